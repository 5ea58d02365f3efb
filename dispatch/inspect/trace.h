// The dispatch trace: every kernel that is called, as a line on standard error, nested as the calls are:
//
// clang-format off
//   [keyway] add.Tensor -> AutogradCPU autograd::add_Tensor (ops/schemas/pointwise.json:3)  self {AutogradCPU, CPU} other {CPU}
//   [keyway]   add.Tensor -> CPU ...
// clang-format on
//
// KEYWAY_SHOW_DISPATCH_TRACE=1 in the environment turns it on for the whole program, in every build.
#pragma once

#include <keyway/dispatch/registry/observer.h>

#include <functional>
#include <memory>
#include <string_view>

namespace keyway::inline v1 {

// An observer that gives each line, without its end, to `write`: one call at a time.
KEYWAY_API std::shared_ptr<CallObserver> dispatch_trace(std::function<void(std::string_view)> write);

// The keys of a call's arguments: "self {CPU} other {AutogradCPU, CPU}". Of a list, those of all its tensors.
KEYWAY_API std::string argument_keys_text(const ObservedCall& call);

}  // namespace keyway::inline v1
