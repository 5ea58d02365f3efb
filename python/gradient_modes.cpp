#include <keyway/core/keys/thread_state.h>
#include <keyway/python/autograd.h>

#include <nanobind/stl/tuple.h>
#include <tuple>

namespace nb = nanobind;

namespace keyway::inline v1::python {
namespace {

// What inference mode changes of a thread, for who leaves it.
using Mode = std::tuple<bool, bool, std::uint64_t>;  // inference, grad_disabled, excluded keys of Autograd

Mode enter_inference_mode(bool enabled) {
  const Mode before{thread_state.inference, thread_state.grad_disabled, thread_state.excluded & kAutogradKeys.raw()};
  thread_state.inference = enabled;
  thread_state.grad_disabled = enabled;
  thread_state.excluded &= ~kAutogradKeys.raw();
  if (enabled) thread_state.excluded |= kAutogradKeys.raw();
  return before;
}

void leave_inference_mode(const Mode& before) {
  std::uint64_t excluded = 0;
  std::tie(thread_state.inference, thread_state.grad_disabled, excluded) = before;
  thread_state.excluded = (thread_state.excluded & ~kAutogradKeys.raw()) | excluded;
}

}  // namespace

void add_gradient_modes(nb::module_& module, nb::module_& internal) {
  module.def(
      "is_grad_enabled", [] { return grad_enabled(); }, "Whether calls of this thread are recorded for backward.");
  module.def(
      "is_inference_mode_enabled", [] { return InferenceMode::is_enabled(); },
      "Whether this thread is in inference mode.");
  internal.def(
      "set_grad_enabled", [](bool enabled) { thread_state.grad_disabled = !enabled; }, nb::arg("enabled"),
      "Whether calls of this thread are recorded from now on.");
  internal.def("enter_inference_mode", enter_inference_mode, nb::arg("enabled"), "Gives what to leave it with.");
  internal.def("leave_inference_mode", leave_inference_mode, nb::arg("before"), "Takes what entering gave.");
}

}  // namespace keyway::inline v1::python
