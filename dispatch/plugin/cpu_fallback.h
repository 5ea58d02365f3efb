// cpu_fallback: serves, with the CPU's kernels, every operator that a backend has no kernel of.
//
//   plugin.impl("_", runtime_key(Functionality::Dense, npu)).fallback(cpu_fallback);
//
// As every fallback it comes last: a kernel of the backend, and a function that calls other operators, go before it.
// For one operator alone: m.impl_boxed("svd", cpu_fallback). For the calls that a kernel declines: Library::or_else().
#pragma once

#include <keyway/dispatch/call/kernel.h>

namespace keyway::inline v1 {

// Copies what tensors of the call reach of their storages to the CPU, by Allocator::copy_to_host, so that those that
// share memory do so there too; calls the CPU's kernel; copies back what the schema says is written, and gives results
// on the device. A result that is an argument, or a view of one, is that of the device. Random operators draw from the
// generator of the device, so that they give the numbers of the device's own kernels. An error leaves the arguments as
// they were. fallback_report.h says what went through it.
//
// Throws keyway::Error: what the CPU's kernel throws, OutOfMemory on either side, NotImplemented where the allocator
// cannot copy.
KEYWAY_API void cpu_fallback(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

}  // namespace keyway::inline v1
