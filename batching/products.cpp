// Products of matrices: those of all examples are one product of stacked matrices.
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/ops/linalg.h>

namespace keyway::inline v1::batching {
namespace {

// A value with the batch, or the tensor itself, whose matrices are then broadcast.
Tensor operand(const IValue& argument, const Level& level, std::int64_t rank) {
  const TensorBase tensor = argument.to_tensor();
  const TensorBase* value = value_at(tensor, level);
  return Tensor(value != nullptr ? with_rank(*value, rank) : tensor);
}

bool are_of_rank(const Call& call, std::size_t first, std::int64_t rank) {
  for (std::size_t i = first; i < first + 2; ++i)
    if (call.stack[i].to_tensor().dim() != rank) return false;
  // Of batches matmul would ask less strictly that the sizes fit.
  if (rank == 3 && call.stack[first].to_tensor().size(0) != call.stack[first + 1].to_tensor().size(0)) return false;
  return call.stack[first].to_tensor().dtype() == call.stack[first + 1].to_tensor().dtype();
}

// The factors are the arguments from `first` on, each of `rank`.
Tensor product(const Call& call, std::size_t first, std::int64_t rank) {
  return matmul(operand(call.stack[first], call.level, rank), operand(call.stack[first + 1], call.level, rank));
}

// Whether a number is of the kind of the dtype's, or of a narrower kind.
bool holds(ScalarType dtype, const Scalar& number) {
  if (number.is_complex()) return is_complex(dtype);
  return !number.is_floating_point() || is_complex(dtype) || is_floating_point(dtype);
}

bool only_product(Call& call, std::int64_t rank) {
  if (!are_of_rank(call, 0, rank)) return false;
  call.stack = {product(call, 0, rank)};
  return true;
}

// beta * self + alpha * product
bool scaled_sum(Call& call, std::int64_t rank) {
  if (call.op.schema().is_mutable() || !are_of_rank(call, 1, rank)) return false;
  const TensorBase self = call.stack[0].to_tensor();
  if (self.dim() > rank || self.dtype() != call.stack[1].to_tensor().dtype()) return false;
  const Scalar beta = call.stack[3].to_scalar();
  const Scalar alpha = call.stack[4].to_scalar();
  // Then nothing of `self` counts, not even a NaN.
  if (beta == Scalar(0)) return false;
  // Else the terms would be of other dtypes than the operator's.
  if (!holds(self.dtype(), beta) || !holds(self.dtype(), alpha)) return false;
  const Tensor times = product(call, 1, rank);
  const IntArrayRef sizes = times.sizes();
  const IntArrayRef of_example = sizes.slice(times.dim() > rank ? 1 : 0);
  for (std::int64_t i = 1; i <= self.dim(); ++i)
    if (self.size(-i) != 1 && self.size(-i) != of_example[static_cast<std::size_t>(rank - i)]) return false;
  const Tensor term = alpha == Scalar(1) ? times : times.mul(alpha);
  const Tensor summand = operand(call.stack[0], call.level, rank);
  call.stack = {(beta == Scalar(1) ? summand : summand.mul(beta)).add(term)};
  return true;
}

}  // namespace

bool mm(Call& call) { return only_product(call, 2); }
bool bmm(Call& call) { return only_product(call, 3); }
bool addmm(Call& call) { return scaled_sum(call, 2); }
bool baddbmm(Call& call) { return scaled_sum(call, 3); }

}  // namespace keyway::inline v1::batching
