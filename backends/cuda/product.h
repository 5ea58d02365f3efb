// Products of matrices in the terms of libraries: from batches of matrices of any strides to column-major ones, each as
// it lies or transposed.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace keyway::inline v1::cuda {

// Element (i, j) of matrix x is `data` and x * batch_stride + i * row_stride + j * column_stride elements. A stride of
// 0 broadcasts. Owns nothing.
struct Matrices {
  void* data = nullptr;
  std::int64_t batch = 1, rows = 0, columns = 0;
  std::int64_t batch_stride = 0, row_stride = 0, column_stride = 0;

  Matrices transposed() const { return {data, batch, columns, rows, batch_stride, column_stride, row_stride}; }
};

// [batch, rows, columns], or [rows, columns] for a batch of one.
Matrices matrices_of(const TensorBase& tensor);

// What products of a dtype are summed in: float and complex64 for what is narrower, else the dtype itself.
ScalarType sum_dtype(ScalarType dtype);

// Elements from a column to the next, where columns are dense and do not overlap; of the transpose's columns if
// `transposed`. Nothing if it is not so.
std::optional<std::int64_t> leading(const Matrices& matrices, bool transposed);
// Which of the two it is, transposed or not; the one with longer columns if it is both.
std::optional<bool> is_transposed(const Matrices& matrices);

// One operand of a product of column-major matrices.
struct ProductOperand {
  bool transposed = false;
  std::int64_t leading = 0;
  std::int64_t batch_stride = 0;
  std::int64_t alignment = 1;  // of its address: a power of two, at most 256

  friend bool operator==(const ProductOperand&, const ProductOperand&) = default;
};

// d = alpha * a b + beta * c, in column-major terms: a is m x k, b k x n, c and d are m x n and not transposed. A bias
// is a column of m that is added to each column of d, of all matrices. What a library chooses a kernel by: all but
// addresses and factors.
struct ProductProblem {
  ScalarType dtype = ScalarType::Float;   // of a and b
  ScalarType result = ScalarType::Float;  // of c and d
  std::int64_t batch = 0, m = 0, n = 0, k = 0;
  ProductOperand a, b, c, d;
  std::int64_t bias = 0;  // alignment of its address, 0 if there is none

  std::size_t hash() const;
  friend bool operator==(const ProductProblem&, const ProductProblem&) = default;
};

struct ColumnMajorProduct {
  ProductProblem problem;
  const void* a;
  const void* b;
  const void* c;
  void* d;
  const void* bias = nullptr;
};

// The matrices [first, first + count) of all of a product's.
ColumnMajorProduct part_of_batch(const ColumnMajorProduct& product, std::int64_t first, std::int64_t count);

// out = alpha * a b + beta * add. The rows of a row-major `out` are columns of its transpose, which is the product of
// the operands' transposes in turned order. Nothing if `add` does not lie the way that `out` does, if is_transposed()
// has no answer for one of the others, or if a number is larger than libraries take. Requires: the shapes fit; nothing
// is empty.
std::optional<ColumnMajorProduct> column_major_product(ScalarType dtype, ScalarType result, const Matrices& a,
                                                       const Matrices& b, const Matrices& add, const Matrices& out);
// out = alpha * a b + bias, a dense vector that broadcasts to all columns or all rows of `out`, whichever lie dense;
// nothing if it is none. c is d, for a beta of 0.
std::optional<ColumnMajorProduct> biased_product(ScalarType dtype, ScalarType result, const Matrices& a,
                                                 const Matrices& b, const Matrices& bias, const Matrices& out);

}  // namespace keyway::inline v1::cuda
