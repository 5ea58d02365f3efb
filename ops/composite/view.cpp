#include <keyway/ops/composite/parts.h>
#include <keyway/ops/rules/views.h>
#include <keyway/ops/view.h>
#include <keyway/ops/view_composites.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1::composite {

namespace {

std::size_t wrapped(std::int64_t dim, const Tensor& self) {
  return static_cast<std::size_t>(wrap_dim(dim, self.dim()));
}

// The sizes of `self` with others in place of those from `first` up to but without `last`.
DimVector with_sizes(const Tensor& self, std::size_t first, std::size_t last, IntArrayRef between) {
  DimVector sizes(self.sizes().slice(0, first));
  for (const std::int64_t size : between) sizes.push_back(size);
  for (std::size_t d = last; d < self.sizes().size(); ++d) sizes.push_back(self.sizes()[d]);
  return sizes;
}

}  // namespace

Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return self.expand(size); }

Tensor expand_as(const Tensor& self, const Tensor& other) { return self.expand(other.sizes()); }

Tensor flatten(const Tensor& self, std::int64_t start_dim, std::int64_t end_dim) {
  if (self.dim() == 0) return self.reshape({1});
  const std::size_t start = wrapped(start_dim, self), end = wrapped(end_dim, self) + 1;
  if (start + 1 == end) return self;
  return self.reshape(with_sizes(self, start, end, {checked_numel(self.sizes().slice(start, end - start))}));
}

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  const std::size_t rank = self.sizes().size();
  if (rank == 0) return self;
  DimVector order(rank, -1);
  SmallVector<bool, 8> moved(rank, false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t from = wrapped(source[i], self);
    order[wrapped(destination[i], self)] = static_cast<std::int64_t>(from);
    moved[from] = true;
  }
  std::size_t next = 0;
  for (std::int64_t& dim : order) {
    if (dim != -1) continue;
    while (moved[next]) ++next;
    dim = static_cast<std::int64_t>(next++);
  }
  return self.permute(order);
}

Tensor movedim_int(const Tensor& self, std::int64_t source, std::int64_t destination) {
  return self.movedim(IntArrayRef(&source, 1), IntArrayRef(&destination, 1));
}

Tensor ravel(const Tensor& self) { return self.contiguous().view({self.numel()}); }

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_shape(shape, self.numel());
  if (view_strides(self.sizes(), self.strides(), sizes)) return self.view(sizes);
  return self.clone(MemoryFormat::Contiguous).view(sizes);
}

Tensor t(const Tensor& self) { return self.dim() < 2 ? self : self.transpose(0, 1); }

std::vector<Tensor> tensor_split_indices(const Tensor& self, IntArrayRef indices, std::int64_t dim) {
  std::vector<Tensor> parts;
  parts.reserve(indices.size() + 1);
  std::int64_t start = 0;
  for (const std::int64_t end : indices) parts.push_back(self.slice(dim, std::exchange(start, end), end));
  parts.push_back(self.slice(dim, start));
  return parts;
}

std::vector<Tensor> tensor_split_sections(const Tensor& self, std::int64_t sections, std::int64_t dim) {
  const std::int64_t size = self.size(dim);
  check_parts("sections", sections, size);
  DimVector parts(static_cast<std::size_t>(sections), size / sections);
  for (std::size_t i = 0; i < static_cast<std::size_t>(size % sections); ++i) ++parts[i];
  return self.split_with_sizes(parts, dim);
}

Tensor unflatten(const Tensor& self, std::int64_t dim, IntArrayRef sizes) {
  const std::size_t at = wrapped(dim, self);
  return self.view(with_sizes(self, at, at + 1, infer_shape(sizes, self.size(dim))));
}

Tensor view_as(const Tensor& self, const Tensor& other) { return self.view(other.sizes()); }

}  // namespace keyway::inline v1::composite
