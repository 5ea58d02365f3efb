// Kernels in out style: the one function by which a backend serves all overloads of a generated operator.
//
//   void npu_add(const TensorBase& self, const TensorBase& other, const Scalar& alpha, TensorBase& out);
//   KEYWAY_LIBRARY_IMPL(keyway, npu, m) { m.kernel("add.Tensor", npu_add); }
//
// serves add.Tensor, add_.Tensor and add.out. The operator's wrappers stand before it, those that the CPU's kernels
// have. What they have made sure of when it is called, and what not (operands that broadcast come as they are), is in
// docs/backends.md. Its parameters are canonical types: the arguments without those that describe a new tensor, then
// the results; the error of a wrong one has them.
#pragma once

#include <keyway/dispatch/call/kernel.h>
#include <keyway/dispatch/call/signature.h>

namespace keyway::inline v1 {

// Such a function as the context of a wrapper.
template <typename Fn>
struct BackendKernel {
  Fn* function;
};

// What an overload offers to backends: a kernel that waits for its context. That lies behind this, as in a table.
struct BackendWrapper {
  const char* code;      // signature_code of the overload
  const char* function;  // signature_code of the function in out style
  // A function of that type, as a BackendKernel, which notes what it is called with (direct_call.h); null if there can
  // be none.
  const void* spy;

  const ErasedKernel& kernel() const { return *reinterpret_cast<const ErasedKernel*>(this + 1); }
  // Whether a kernel of the overload is this wrapper, with a BackendKernel as its context: as the CPU has it, or with
  // the guard of a device around.
  bool is_of(const ErasedKernel& kernel) const {
    using Fn = void (*)();
    const Fn bare = *reinterpret_cast<const Fn*>(&this->kernel() + 1);
    return kernel.context != nullptr && (kernel.fn == bare || kernel.fn == this->kernel().fn);
  }
};
template <typename Sig>
struct StaticWrapper : BackendWrapper {
  Kernel<Sig> waiting;
  typename Kernel<Sig>::Fn bare;
};
static_assert(sizeof(StaticWrapper<void()>) == sizeof(BackendWrapper) + sizeof(ErasedKernel) + sizeof(void (*)()));

}  // namespace keyway::inline v1
