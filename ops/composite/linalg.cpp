#include <keyway/ops/all.h>
#include <keyway/ops/linalg_composites.h>
#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/rules/promotion.h>

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

// The products of a batch, added up, are one product: columns of all beside one another, rows below one another.
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  const std::int64_t depth = checked_numel({batch1.size(0), batch1.size(2)});
  const Tensor left = batch1.transpose(0, 1).reshape({batch1.size(1), depth});
  return addmm(self, left, batch2.reshape({depth, batch2.size(2)}), beta, alpha);
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  return addmm(self.dim() == 0 ? self : self.unsqueeze(1), mat, vec.unsqueeze(1), beta, alpha).squeeze(1);
}

// Of bools: whether one of both summands holds.
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  const ScalarType dtype = (Promotion() << self << vec1 << vec2).result();
  const Tensor column = vec1.to(dtype).unsqueeze(1), row = vec2.to(dtype).unsqueeze(0);
  if (dtype != kBool) return addmm(self.to(dtype), column, row, beta, alpha);
  const Tensor both = column.logical_and(row);
  const Tensor product = alpha.to<bool>() ? both : keyway::zeros_like(both);
  return beta.to<bool>() ? product.logical_or(self) : product;
}

// One product with the first factor for all matrices at once, then one for each row with the second.
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const std::optional<Tensor>& bias) {
  const IntArrayRef leading = without_last(input1.sizes(), 1);
  const std::int64_t rows = checked_numel(leading), outputs = weight.size(0);
  const std::int64_t width = weight.size(1), other = weight.size(2);
  const Tensor matrices = weight.permute({1, 0, 2}).reshape({width, checked_numel({outputs, other})});
  const Tensor half = mm(input1.reshape({rows, width}), matrices).reshape({rows, outputs, other});
  const Tensor result = bmm(half, input2.reshape({rows, other, 1})).reshape(with_last(leading, {outputs}));
  return bias && bias->defined() ? result + *bias : result;
}

Tensor dot(const Tensor& self, const Tensor& tensor) { return keyway::matmul(self, tensor); }

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

Tensor mv(const Tensor& self, const Tensor& vec) { return keyway::matmul(self, vec); }

Tensor vdot(const Tensor& self, const Tensor& other) { return keyway::matmul(self.conj_physical(), other); }

}  // namespace keyway::inline v1::composite
