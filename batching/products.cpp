// Products of matrices: those of all examples are one product of stacked matrices.
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/ops/linalg.h>

namespace keyway::inline v1::batching {
namespace {

// A value with the batch, or the tensor itself, whose matrices are then broadcast.
Tensor operand(const IValue& argument, const VmapLevel& level, std::int64_t rank) {
  const TensorBase tensor = argument.to_tensor();
  const TensorBase* value = value_at(tensor, level);
  return Tensor(value != nullptr ? with_rank(*value, rank) : tensor);
}

// The two factors of a product, and whether they are of that rank and fit.
struct Factors {
  std::string_view first, second;
  std::int64_t rank;

  bool fit(const VmapCall& call) const {
    const TensorBase a = call.tensor(first), b = call.tensor(second);
    // Of batches matmul would ask less strictly that the sizes fit.
    return a.dim() == rank && b.dim() == rank && (rank != 3 || a.size(0) == b.size(0)) && a.dtype() == b.dtype();
  }
  Tensor product(const VmapCall& call) const {
    return matmul(operand(call[first], call.level, rank), operand(call[second], call.level, rank));
  }
};

// Whether a number is of the kind of the dtype's, or of a narrower kind.
bool holds(ScalarType dtype, const Scalar& number) {
  if (number.is_complex()) return is_complex(dtype);
  return !number.is_floating_point() || is_complex(dtype) || is_floating_point(dtype);
}

bool only_product(VmapCall& call, const Factors& factors) {
  if (!factors.fit(call)) return false;
  call.stack = {factors.product(call)};
  return true;
}

// beta * self + alpha * product
bool scaled_sum(VmapCall& call, const Factors& factors) {
  if (call.op.schema().is_mutable() || !factors.fit(call)) return false;
  const TensorBase self = call.tensor("self");
  const std::int64_t rank = factors.rank;
  if (self.dim() > rank || self.dtype() != call.tensor(factors.first).dtype()) return false;
  const Scalar beta = call["beta"].to_scalar();
  const Scalar alpha = call["alpha"].to_scalar();
  // Then nothing of `self` counts, not even a NaN.
  if (beta == Scalar(0)) return false;
  // Else the terms would be of other dtypes than the operator's.
  if (!holds(self.dtype(), beta) || !holds(self.dtype(), alpha)) return false;
  const Tensor times = factors.product(call);
  const IntArrayRef sizes = times.sizes();
  const IntArrayRef of_example = sizes.slice(times.dim() > rank ? 1 : 0);
  for (std::int64_t i = 1; i <= self.dim(); ++i)
    if (self.size(-i) != 1 && self.size(-i) != of_example[static_cast<std::size_t>(rank - i)]) return false;
  const Tensor term = alpha == Scalar(1) ? times : times.mul(alpha);
  const Tensor summand = operand(call["self"], call.level, rank);
  call.stack = {(beta == Scalar(1) ? summand : summand.mul(beta)).add(term)};
  return true;
}

}  // namespace

bool mm(VmapCall& call) { return only_product(call, {"self", "mat2", 2}); }
bool bmm(VmapCall& call) { return only_product(call, {"self", "mat2", 3}); }
bool addmm(VmapCall& call) { return scaled_sum(call, {"mat1", "mat2", 2}); }
bool baddbmm(VmapCall& call) { return scaled_sum(call, {"batch1", "batch2", 3}); }

}  // namespace keyway::inline v1::batching
