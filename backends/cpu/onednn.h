// oneDNN: the only door to it. Everything here computes on the calling thread alone; who wants threads cuts
// the work up and calls from each. Its first use costs the process some 20 ms.
#pragma once

#include <cstdint>

namespace keyway::inline v1::onednn {

// c = alpha * op(a) op(b) + beta * c, row-major, where op transposes what is said to be transposed. c is not
// read where beta is 0. Requires: no size is 0; leading dimensions are at least the rows' lengths.
void sgemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
           const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);

}  // namespace keyway::inline v1::onednn
