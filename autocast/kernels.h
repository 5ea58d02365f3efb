// What stands at the Autocast key of operators whose entries have "autocast". Boxed: one kernel a word serves every
// operator. Each converts the call's tensors of the device type that the call is for, if calls there are autocast, and
// goes on below the key; calls within the operator are not autocast.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/dispatch/call/kernel.h>

namespace keyway::inline v1::autocast {

// "lower": to the thread's short dtype.
KEYWAY_API void lower(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);
// "float32": to float32. Where the operator has an optional argument `dtype`, it is set instead, if it is not given.
KEYWAY_API void float32(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);
// "promote": to the widest dtype among them.
KEYWAY_API void promote(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

// How tensors are converted: TensorBase(tensor, dtype). Null until autocast is enabled for the first time, so that a
// program that never does links no conversions.
using Cast = TensorBase (*)(const TensorBase& tensor, ScalarType dtype);
void use_cast(Cast cast);

}  // namespace keyway::inline v1::autocast
