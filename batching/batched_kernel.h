// What stands at the key Batched.
#pragma once

#include <keyway/dispatch/call/kernel.h>

namespace keyway::inline v1::batching {

// For every operator that has no kernel of its own there: makes the call for all examples of the innermost level that
// one of its tensors is batched at.
void call_batched(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

// Has it stand there from now on; called when a thread enters a level.
void register_kernels();

}  // namespace keyway::inline v1::batching
