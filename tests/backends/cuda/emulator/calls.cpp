#include <keyway/tests/backends/cuda/emulator/calls.h>

#include <map>
#include <mutex>
#include <string>

namespace {

struct Calls {
  std::mutex mutex;
  std::map<std::string, std::int64_t> counts;
};
Calls& calls() {
  static Calls& all = *new Calls;
  return all;
}

}  // namespace

void emulator::count(const char* call) {
  const std::lock_guard lock(calls().mutex);
  ++calls().counts[call];
}

std::int64_t keyway_emulated_calls(const char* call) {
  const std::lock_guard lock(calls().mutex);
  return calls().counts[call];
}
