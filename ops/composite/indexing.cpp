#include <keyway/ops/all.h>
#include <keyway/ops/composite/numbers.h>
#include <keyway/ops/indexing_composites.h>
#include <keyway/ops/rules/broadcast.h>

namespace keyway::inline v1::composite {

namespace {

// Indices from the front, of which negative ones count from the end of `size`. What is no index stays as it is,
// for the error to say.
Tensor from_front(const Tensor& index, std::int64_t size) {
  return keyway::where((index < 0).logical_and(index >= -size), index + size, index);
}

}  // namespace

Tensor argwhere(const Tensor& self) { return keyway::nonzero(self); }

Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value) {
  return self.index_fill(dim, index, keyway::scalar_tensor(value, self.options()));
}

Tensor index_fill_tensor(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  if (self.dim() == 0) return self.unsqueeze(0).index_fill(dim, index, value).squeeze(0);
  const std::int64_t size = self.size(dim);
  const Tensor indices = from_front(index.reshape({index.numel()}), size);
  const Tensor counts = keyway::zeros({size}, indices.options()).index_add(0, indices, keyway::ones_like(indices));
  DimVector along(self.sizes().size(), 1);
  along[static_cast<std::size_t>(wrap_dim(dim, self.dim()))] = size;
  return keyway::where(counts.reshape(along) > 0, value.to(self.options()), self);
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return keyway::where(mask, value.to(self.dtype()), self);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  const DimVector sizes = broadcast_sizes(self.sizes(), mask.sizes());
  if (sizes.empty()) return keyway::index(self.reshape({1}), {mask.reshape({1})});
  return keyway::index(self.expand(sizes), {mask.expand(sizes)});
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  const Tensor indices = index.reshape({index.numel()}), values = source.reshape({source.numel()});
  return self.reshape({self.numel()}).index_put({indices}, values, accumulate).reshape(self.sizes());
}

Tensor take(const Tensor& self, const Tensor& index) {
  const Tensor indices = from_front(index.reshape({index.numel()}), self.numel());
  return self.reshape({self.numel()}).index_select(0, indices).reshape(index.sizes());
}

// Indices below 0 count from the end.
Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<std::int64_t> dim) {
  const auto counted = [&](std::int64_t size) {
    // What is out of range stays as it is given, for the error to tell.
    const Tensor from_end = (indices < 0).logical_and(indices >= -size);
    return keyway::where(from_end, indices + size, indices);
  };
  if (!dim) return self.reshape({self.numel()}).gather(0, counted(self.numel()).reshape({indices.numel()}));
  if (self.dim() == 0) return self.gather(0, counted(1));
  const auto at = static_cast<std::size_t>(wrap_dim(*dim, self.dim()));
  DimVector mine(self.sizes()), its(indices.sizes());
  mine[at] = its[at] = 1;
  DimVector common = broadcast_sizes(mine, its), all = common;
  common[at] = indices.sizes()[at];
  all[at] = self.sizes()[at];
  return self.expand(all).gather(*dim, counted(all[at]).expand(common));
}

std::vector<Tensor> where_holds(const Tensor& condition) {
  return (condition.dim() == 0 ? condition.reshape({1}) : condition).nonzero().unbind(1);
}

Tensor where_scalars(const Tensor& condition, const Scalar& self, const Scalar& other) {
  const Tensor holds = condition.to(kBool);
  return keyway::where(holds, number_beside(self, holds), number_beside(other, holds));
}

Tensor where_scalar_other(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return keyway::where(condition.to(kBool), self, number_beside(other, self));
}

Tensor where_scalar_self(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return keyway::where(condition.to(kBool), number_beside(self, other), other);
}

}  // namespace keyway::inline v1::composite
