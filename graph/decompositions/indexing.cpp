#include <keyway/graph/decompositions/decompositions.h>
#include <keyway/ops/composite/numbers.h>

#include <optional>
#include <tuple>
#include <vector>

namespace keyway::inline v1::graph::decompositions {
namespace {

using Indices = ArrayRef<std::optional<Tensor>>;

Tensor index(const Tensor& self, Indices indices) { return keyway::index(self, indices); }

Tensor index_put(const Tensor& self, Indices indices, const Tensor& values, bool accumulate) {
  return keyway::index_put(self, indices, values, accumulate);
}

// Puts slices along a dimension; a tensor without dimensions has one.
Tensor put_slices(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, bool accumulate) {
  if (self.dim() == 0) return put_slices(self.unsqueeze(0), 0, index, source.reshape({1}), accumulate).squeeze(0);
  std::vector<std::optional<Tensor>> indices(static_cast<std::size_t>(dim < 0 ? dim + self.dim() : dim));
  indices.emplace_back(index.reshape(-1));
  return keyway::index_put(self, indices, source, accumulate);
}

// Of bools whether one is true, among those of `source` if `alpha` is.
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  const auto scaled = [&](const Tensor& x) {
    if (x.dtype() == kBool) return alpha.to<bool>() ? x : keyway::zeros_like(x);
    return alpha == 1 ? x : x * alpha;
  };
  const Tensor sums = put_slices(composite::to_opmath(self), dim, index, scaled(composite::to_opmath(source)),
                                 /*accumulate=*/true);
  return composite::narrowed(sums, self.dtype());
}

Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  return put_slices(self, dim, index, source, /*accumulate=*/false);
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return keyway::where(mask, composite::number_as(value, self.dtype(), self.device()), self);
}

// Indices are those of elements of a volume in a row.
Tensor max_pool3d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef, IntArrayRef, IntArrayRef,
                           IntArrayRef, bool, const Tensor& indices) {
  const Tensor row = keyway::zeros_like(self).flatten(-3);
  return row.scatter_add(-1, indices.flatten(-3), grad_output.flatten(-3)).reshape(self.sizes());
}

// For each element of a matrix how far right of the diagonal it is.
Tensor columns_less_rows(const Tensor& self) {
  const auto options = TensorOptions().device(self.device());
  return keyway::arange(self.size(-1), options) - keyway::arange(self.size(-2), options).unsqueeze(-1);
}

// Equal elements stay in order in any case.
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool>, std::int64_t dim, bool descending) {
  return keyway::sort(self, dim, descending);
}

Tensor tril(const Tensor& self, std::int64_t diagonal) {
  return self.masked_fill(columns_less_rows(self) > diagonal, 0);
}

Tensor triu(const Tensor& self, std::int64_t diagonal) {
  return self.masked_fill(columns_less_rows(self) < diagonal, 0);
}

}  // namespace

void add_indexing(Decompositions& table) {
  table.set("_index", &index);
  table.set("_index_put", &index_put);
  table.set("index_add", &index_add);
  table.set("index_copy", &index_copy);
  table.set("masked_fill.Scalar", &masked_fill);
  table.set("max_pool3d_with_indices_backward", &max_pool3d_backward);
  table.set("sort.stable", &sort);
  table.set("tril", &tril);
  table.set("triu", &triu);
}

}  // namespace keyway::inline v1::graph::decompositions
