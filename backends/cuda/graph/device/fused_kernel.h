// What the texts of kernels of several pointwise calls include (kernel_text.h): elements in memory, and a call of a
// functor for one element. Read by NVRTC, and by the compilers of tests.
#pragma once

#include <keyway/backends/cuda/graph/device/fused_arguments.h>
#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/half.h>
#include <keyway/ops/functors/element_error.h>
#include <keyway/ops/functors/forms.h>
#include <keyway/ops/functors/operand.h>
#include <keyway/ops/functors/signature.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace keyway::inline v1::cuda::fused {

// A bool is a byte, of which other values than 0 and 1 are true.
template <typename T>
__device__ T load(const char* at) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const unsigned char*>(at) != 0;
  } else {
    return *reinterpret_cast<const T*>(at);
  }
}
template <typename T>
__device__ void store(char* at, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    *reinterpret_cast<unsigned char*>(at) = value ? 1 : 0;
  } else {
    *reinterpret_cast<T*>(at) = value;
  }
}

// An argument that is None.
__device__ inline std::optional<FusedNumber> none() { return {}; }

// The functor's result for elements of just the types that it takes: what converts before or after it, or may refuse an
// element, is not for this.
template <typename R, typename F, typename... A>
__device__ R call(const F& functor, A... x) {
  if constexpr (HasForms<F>) {
    R result;
    functor.choose([&](const auto& form) { result = call<R>(form, x...); });
    return result;
  } else {
    using Signature = FunctorSignature<F>;
    static_assert(std::is_same_v<typename Signature::Result, R>);
    static_assert(std::is_same_v<typename Signature::Arguments, std::tuple<A...>>);
    static_assert(kElementErrorOf<F> == nullptr);
    return functor(x...);
  }
}

}  // namespace keyway::inline v1::cuda::fused
