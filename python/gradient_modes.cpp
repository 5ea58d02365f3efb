#include <keyway/core/keys/thread_state.h>
#include <keyway/python/module.h>

namespace keyway::inline v1::python {
void add_gradient_modes(nb::module_& module, nb::module_& internal) {
  module.def("is_grad_enabled", grad_enabled, "Whether calls of this thread are recorded for backward.");
  module.def("is_inference_mode_enabled", InferenceMode::is_enabled, "Whether this thread is in inference mode.");
  internal.def(
      "set_grad_enabled", [](bool enabled) { thread_state.grad_disabled = !enabled; }, nb::arg("enabled"),
      "Whether calls of this thread are recorded from now on.");
  nb::class_<InferenceMode::Change>(internal, "InferenceModeChange", "What entering has changed.");
  internal.def("enter_inference_mode", &InferenceMode::enter, nb::arg("enabled"), "Gives what to leave it with.");
  internal.def("leave_inference_mode", &InferenceMode::leave, nb::arg("change"), "Takes what entering gave.");
}

}  // namespace keyway::inline v1::python
