// What stands at the key ForwardAD.
#pragma once

#include <keyway/dispatch/call/kernel.h>

namespace keyway::inline v1::forward {

// For every operator that has no kernel of its own there: calls the operator on the primals, and attaches the tangents
// of the innermost level at which any argument has one.
void call_dual(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

// Has it stand there from now on; called when a level is made.
void register_kernels();

}  // namespace keyway::inline v1::forward
