// gemm: matrix products on the CPU, c = alpha * a b + beta * add.
//
// A row times a column of float32 or float64 neighbours is a dot product (dot.h). 16-bit floats go from 16 x 16 x 16 on
// to oneDNN or are multiplied as float32 (gemm_narrow.h); all else goes to own loops (gemm_block.h). Any strides are
// taken; where one of them is 1, as in a matrix and its transpose, nothing is copied as a whole. The result does not
// depend on how many threads there are. Sums are kept in float for 16-bit floats, in double for double; integers wrap
// around. Why own loops, and how fast they are: docs/decisions/0001-products.md.
#pragma once

#include <keyway/backends/cpu/matrix.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1 {

// Multiplications in a part of a product that is worth a thread.
inline constexpr double kPartWork = 96.0 * 96 * 96;
// From as many products on, a batch is cut up by product.
inline constexpr std::int64_t kBatchForThreads = 16;

template <typename T>
struct Product {
  Matrix<const T> a;
  Matrix<const T> b;
  Matrix<T> c;
  Opmath<T> alpha = Opmath<T>(1);
  // `add` has c's rows and columns, and may be c; it is not read where beta is 0.
  Opmath<T> beta = Opmath<T>(0);
  Matrix<const T> add = {};
};

// T: the real and complex types, without bool. Requires: the shapes fit; c overlaps neither a nor b.
template <typename T>
void gemm(const Product<T>& product);

// `count` products, product(i) the i-th, all of one shape; on all threads. The results do not overlap.
template <typename MakeProduct>
void gemm_batch(std::int64_t count, const MakeProduct& product) {
  if (count == 0) return;
  const auto first = product(0);
  const double work = static_cast<double>(first.c.rows) * static_cast<double>(first.c.columns) *
                      static_cast<double>(first.a.columns + 1);
  // Few and large: each is cut up by itself.
  const bool large = count < kBatchForThreads && work > 4 * kPartWork;
  const std::int64_t grain = large ? count : static_cast<std::int64_t>(1 + kPartWork / (1 + work));
  parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) gemm(product(i));
  });
}

}  // namespace keyway::inline v1
