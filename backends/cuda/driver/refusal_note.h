// RefusalNote: how a kernel refuses an element. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/refusals.h>

namespace keyway::inline v1::cuda {

// What a kernel writes, and where to; its functor may have no reason to.
struct RefusalNote {
  const Refusal* what = nullptr;
  RefusalSlot* slot = nullptr;
};
// For the operator that runs; nothing to write if `reason` is null.
RefusalNote refusal_note(const char* reason, Stream stream);

// Functor::kRefusal; null if it has none, and so accepts all elements.
template <typename F>
inline constexpr const char* kRefusalOf = nullptr;
template <typename F>
requires requires { F::kRefusal; }
inline constexpr const char* kRefusalOf<F> = F::kRefusal;

}  // namespace keyway::inline v1::cuda
