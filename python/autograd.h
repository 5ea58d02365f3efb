// Autograd: backward, grad, gradcheck, the gradient modes of threads, anomaly mode, and hooks of what is saved: what
// the modules of keyway.autograd are made of, as keyway._C._autograd has it.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_autograd(nanobind::module_& module);
// Whether a mode is on can be asked of `module`; `internal` changes it.
void add_gradient_modes(nanobind::module_& module, nanobind::module_& internal);
void add_anomaly_mode(nanobind::module_& module, nanobind::module_& internal);
void add_saved_tensor_hooks(nanobind::module_& module);

}  // namespace keyway::inline v1::python
