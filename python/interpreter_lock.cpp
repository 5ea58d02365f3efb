#include <keyway/python/interpreter_lock.h>

#include <chrono>
#include <thread>

namespace keyway::inline v1::python {

void wait_for_the_end() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace keyway::inline v1::python
