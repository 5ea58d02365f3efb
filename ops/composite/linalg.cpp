#include <keyway/ops/linalg.h>
#include <keyway/ops/linalg_composites.h>
#include <keyway/ops/rules/broadcast.h>

namespace keyway::inline v1::composite {

namespace {

// Sizes of `tensor` with others in place of the last ones.
DimVector with_last(IntArrayRef leading, IntArrayRef last) {
  DimVector sizes(leading);
  for (const std::int64_t size : last) sizes.push_back(size);
  return sizes;
}

IntArrayRef without_last(IntArrayRef sizes, std::size_t count) { return sizes.slice(0, sizes.size() - count); }

// Many rows times one matrix: one product.
Tensor fold_rows(const Tensor& a, const Tensor& b) {
  const IntArrayRef leading = without_last(a.sizes(), 1);
  const Tensor rows = a.reshape({checked_numel(leading), a.size(-1)});
  return mm(rows, b).reshape(with_last(leading, {b.size(1)}));
}

Tensor batched(const Tensor& a, const Tensor& b) {
  const DimVector batch = broadcast_sizes(without_last(a.sizes(), 2), without_last(b.sizes(), 2));
  const std::int64_t count = checked_numel(batch);
  const auto flat = [&](const Tensor& matrices) {
    const std::int64_t rows = matrices.size(-2), columns = matrices.size(-1);
    return matrices.expand(with_last(batch, {rows, columns})).reshape({count, rows, columns});
  };
  return bmm(flat(a), flat(b)).reshape(with_last(batch, {a.size(-2), b.size(-1)}));
}

// Requires: two dimensions or more.
Tensor product(const Tensor& a, const Tensor& b) {
  if (b.dim() > 2) return batched(a, b);
  return a.dim() == 2 ? mm(a, b) : fold_rows(a, b);
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const bool has_bias = bias && bias->defined();
  if (has_bias && input.dim() == 2 && weight.dim() == 2) return addmm(*bias, input, weight.t());
  if (has_bias && input.dim() > 2 && weight.dim() == 2 && input.is_contiguous()) {
    const IntArrayRef leading = without_last(input.sizes(), 1);
    const Tensor rows = input.view({checked_numel(leading), input.size(-1)});
    return addmm(*bias, rows, weight.t()).view(with_last(leading, {weight.size(0)}));
  }
  const Tensor result = keyway::matmul(input, weight.t());
  return has_bias ? result + *bias : result;
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  const bool row = self.dim() == 1;
  const bool column = other.dim() == 1;
  Tensor result = product(row ? self.unsqueeze(0) : self, column ? other.unsqueeze(1) : other);
  if (column) result = result.squeeze(-1);
  return row ? result.squeeze(column ? -1 : -2) : result;
}

}  // namespace keyway::inline v1::composite
