// The decompositions that Keyway has: of each operator a function of its arguments which is written with operators of
// the Core ATen set, or with such that have a decomposition themselves.
#pragma once

#include <keyway/graph/passes/decompose.h>
#include <keyway/ops/all.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/rules/promotion.h>

#include <concepts>
#include <utility>

namespace keyway::inline v1::graph::decompositions {

void add_activations(Decompositions& table);
void add_attention(Decompositions& table);
void add_indexing(Decompositions& table);
void add_losses(Decompositions& table);
void add_normalization(Decompositions& table);
void add_pointwise(Decompositions& table);
void add_reductions(Decompositions& table);
void add_shapes(Decompositions& table);

// What `compute` gives for the operands, tensors and numbers, in the dtype that they promote to, in that dtype; 16-bit
// floats are computed in float32, as kernels do.
template <typename F, typename... Operands>
Tensor in_opmath(F&& compute, const Operands&... operands) {
  Promotion promotion;
  (promotion << ... << operands);
  const ScalarType dtype = promotion.result(), wide = composite::opmath_dtype(dtype);
  const auto widened = [&]<typename T>(const T& x) -> T {
    if constexpr (std::same_as<T, Tensor>) {
      return x.dtype() == wide ? x : x.to(wide);
    } else {
      return x;
    }
  };
  const Tensor result = std::forward<F>(compute)(widened(operands)...);
  return result.dtype() == dtype ? result : result.to(dtype);
}

// A root whose gradient is 0 where it is 0.
inline Tensor root(const Tensor& x) {
  if (!grad_enabled()) return x.sqrt();
  const Tensor is_zero = x == 0;
  return x.masked_fill(is_zero, 1).sqrt().masked_fill(is_zero, 0);
}

}  // namespace keyway::inline v1::graph::decompositions
