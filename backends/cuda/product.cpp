#include <keyway/backends/common/plan_cache.h>
#include <keyway/backends/cuda/product.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

constexpr std::int64_t kMostAlignment = 256;  // more makes no difference to libraries
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

std::int64_t alignment_of(const void* address) {
  const auto bits = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address));
  return bits == 0 ? kMostAlignment : std::min(kMostAlignment, bits & -bits);
}

std::optional<ProductOperand> operand(const Matrices& matrices, bool transposed) {
  const std::optional<std::int64_t> step = leading(matrices, transposed);
  if (!step || *step > kLargest) return std::nullopt;
  return ProductOperand{transposed, *step, matrices.batch == 1 ? 0 : matrices.batch_stride,
                        alignment_of(matrices.data)};
}
std::optional<ProductOperand> operand(const Matrices& matrices) {
  const std::optional<bool> transposed = is_transposed(matrices);
  return transposed ? operand(matrices, *transposed) : std::nullopt;
}

}  // namespace

Matrices matrices_of(const TensorBase& tensor) {
  const IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  const std::size_t d = sizes.size() - 2;
  return {tensor.data_ptr(), d == 0 ? 1 : sizes[0], sizes[d], sizes[d + 1], d == 0 ? 0 : strides[0],
          strides[d],        strides[d + 1]};
}

ScalarType sum_dtype(ScalarType dtype) {
  if (dtype == ScalarType::Half || dtype == ScalarType::BFloat16) return ScalarType::Float;
  return dtype == ScalarType::ComplexHalf ? ScalarType::ComplexFloat : dtype;
}

std::optional<std::int64_t> leading(const Matrices& matrices, bool transposed) {
  const Matrices m = transposed ? matrices.transposed() : matrices;
  if (m.rows > 1 && m.row_stride != 1) return std::nullopt;
  if (m.columns <= 1) return std::max<std::int64_t>(m.rows, 1);
  if (m.column_stride < std::max<std::int64_t>(m.rows, 1)) return std::nullopt;
  return m.column_stride;
}

std::optional<bool> is_transposed(const Matrices& matrices) {
  const bool first = matrices.rows < matrices.columns;
  if (leading(matrices, first)) return first;
  if (leading(matrices, !first)) return !first;
  return std::nullopt;
}

std::size_t ProductProblem::hash() const {
  PlanHash all;
  all.add(static_cast<std::int64_t>(dtype) * 256 + static_cast<std::int64_t>(result));
  for (const std::int64_t number : {batch, m, n, k}) all.add(number);
  for (const ProductOperand* one : {&a, &b, &c, &d}) {
    all.add(one->leading);
    all.add(one->batch_stride);
    all.add(one->alignment * 2 + (one->transposed ? 1 : 0));
  }
  all.add(bias);
  return all.value();
}

ColumnMajorProduct part_of_batch(const ColumnMajorProduct& product, std::int64_t first, std::int64_t count) {
  const ProductProblem& problem = product.problem;
  const auto offset = [&](const ProductOperand& operand, ScalarType dtype) {
    return first * operand.batch_stride * static_cast<std::int64_t>(element_size(dtype));
  };
  ColumnMajorProduct part = product;
  part.a = static_cast<const char*>(product.a) + offset(problem.a, problem.dtype);
  part.b = static_cast<const char*>(product.b) + offset(problem.b, problem.dtype);
  part.c = static_cast<const char*>(product.c) + offset(problem.c, problem.result);
  part.d = static_cast<char*>(product.d) + offset(problem.d, problem.result);
  part.problem.batch = count;
  for (const auto& [operand, address] :
       {std::pair(&part.problem.a, part.a), std::pair(&part.problem.b, part.b), std::pair(&part.problem.c, part.c),
        std::pair(&part.problem.d, static_cast<const void*>(part.d))}) {
    operand->alignment = alignment_of(address);
  }
  return part;
}

std::optional<ColumnMajorProduct> column_major_product(ScalarType dtype, ScalarType result, const Matrices& a,
                                                       const Matrices& b, const Matrices& add, const Matrices& out) {
  const std::optional<bool> transposed = is_transposed(out);
  if (!transposed) return std::nullopt;
  if (*transposed) {
    return column_major_product(dtype, result, b.transposed(), a.transposed(), add.transposed(), out.transposed());
  }
  if (std::max({out.batch, out.rows, out.columns, a.columns}) > kLargest) return std::nullopt;
  const auto left = operand(a), right = operand(b), third = operand(add, false), to = operand(out, false);
  if (!left || !right || !third || !to) return std::nullopt;
  return ColumnMajorProduct{{dtype, result, out.batch, out.rows, out.columns, a.columns, *left, *right, *third, *to},
                            a.data,
                            b.data,
                            add.data,
                            out.data};
}

std::optional<ColumnMajorProduct> biased_product(ScalarType dtype, ScalarType result, const Matrices& a,
                                                 const Matrices& b, const Matrices& bias, const Matrices& out) {
  const std::optional<bool> transposed = is_transposed(out);
  if (!transposed) return std::nullopt;
  const Matrices column = *transposed ? bias.transposed() : bias;
  const bool is_dense = column.rows == 1 || column.row_stride == 1;
  const bool is_one =
      (column.columns == 1 || column.column_stride == 0) && (column.batch == 1 || column.batch_stride == 0);
  if (!is_dense || !is_one) return std::nullopt;
  std::optional<ColumnMajorProduct> product = column_major_product(dtype, result, a, b, out, out);
  if (product) {
    product->bias = bias.data;
    product->problem.bias = alignment_of(bias.data);
  }
  return product;
}

}  // namespace keyway::inline v1::cuda
