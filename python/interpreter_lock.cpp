#include <keyway/python/interpreter_lock.h>

#include <chrono>
#include <thread>

namespace keyway::inline v1::python {

bool is_over_for_this_thread() noexcept {
  return Py_IsInitialized() == 0 && (PyGILState_GetThisThreadState() == nullptr || PyGILState_Check() == 0);
}

void wait_for_the_end() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace keyway::inline v1::python
