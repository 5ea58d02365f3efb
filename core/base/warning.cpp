#include <keyway/core/base/warning.h>

#include <cstdio>
#include <mutex>
#include <utility>

namespace keyway::inline v1 {

namespace {

void print(std::string_view text) {
  std::fprintf(stderr, "[keyway] warning: %.*s\n", static_cast<int>(text.size()), text.data());
}

// Never destroyed: what runs at exit may warn.
struct Warnings {
  std::mutex mutex;
  WarningHandler handler = print;

  static Warnings& get() {
    static Warnings& warnings = *new Warnings;
    return warnings;
  }
};

}  // namespace

void warn(std::string_view text) {
  Warnings& warnings = Warnings::get();
  const std::lock_guard lock(warnings.mutex);
  if (warnings.handler) warnings.handler(text);
}

WarningHandler set_warning_handler(WarningHandler handler) {
  Warnings& warnings = Warnings::get();
  const std::lock_guard lock(warnings.mutex);
  return std::exchange(warnings.handler, std::move(handler));
}

}  // namespace keyway::inline v1
