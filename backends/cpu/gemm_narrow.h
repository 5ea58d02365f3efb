// Products of matrices of 16-bit floats that are worth more than own loops, which convert what they read element by
// element.
#pragma once

#include <keyway/backends/cpu/gemm_parts.h>

namespace keyway::inline v1::detail {

// Whether own loops are as good.
template <typename T>
bool is_small(const Product<T>& product) {
  return work(product) <= 16.0 * 16 * 16;
}

// By oneDNN where it and the processor multiply bfloat16; else by products of float32. Sums are kept in float32 either
// way. T: Half, BFloat16. Requires: as gemm(), and no size is 0.
template <typename T>
void narrow_gemm(const Product<T>& product);

}  // namespace keyway::inline v1::detail
