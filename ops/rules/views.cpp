#include <keyway/core/base/error.h>
#include <keyway/ops/rules/views.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1 {

namespace {

std::size_t wrapped(std::int64_t dim, std::int64_t rank) { return static_cast<std::size_t>(wrap_dim(dim, rank)); }

// What overflows belongs to a tensor without elements, or to a dimension of size 1: `otherwise` does as well.
std::int64_t product_or(std::int64_t a, std::int64_t b, std::int64_t otherwise) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? otherwise : product;
}

// The offset of `index` along a dimension. A tensor without elements keeps its own, so that it lies within the
// storage.
std::int64_t offset_at(const TensorBase& self, std::int64_t index, std::int64_t stride) {
  return self.numel() == 0 ? self.storage_offset() : self.storage_offset() + index * stride;
}

void drop(ViewGeometry& geometry, std::size_t dim) {
  geometry.sizes.erase(dim);
  geometry.strides.erase(dim);
}

}  // namespace

namespace rules {

ViewGeometry alias(const TensorBase& self) {
  return {DimVector(self.sizes()), DimVector(self.strides()), self.storage_offset()};
}

ViewGeometry as_strided(const TensorBase& self, IntArrayRef size, IntArrayRef stride,
                        std::optional<std::int64_t> storage_offset) {
  const std::int64_t offset = storage_offset.value_or(self.storage_offset());
  KEYWAY_CHECK(offset >= 0, "storage_offset is {}, but must not be negative", offset);
  checked_numel(size);
  const std::size_t bytes = std::max(checked_nbytes(size, stride, offset, self.itemsize()),
                                     checked_nbytes({}, {}, offset, self.itemsize()) - self.itemsize());
  KEYWAY_CHECK(bytes <= self.storage().nbytes(),
               "sizes {} with strides {} and offset {} reach beyond the storage: they need {} bytes of its {}", size,
               stride, offset, bytes, self.storage().nbytes());
  return {DimVector(size), DimVector(stride), offset};
}

ViewGeometry expand(const TensorBase& self, IntArrayRef size, bool) {
  const IntArrayRef from = self.sizes();
  KEYWAY_CHECK(size.size() >= from.size(),
               "shape {} does not expand to {}: as many dimensions as it has, or more, must be given", from, size);
  const std::size_t added = size.size() - from.size();
  ViewGeometry to{DimVector(size), DimVector(size.size()), self.storage_offset()};
  for (std::size_t d = size.size(); d-- > 0;) {
    const bool is_new = d < added;
    KEYWAY_CHECK(size[d] >= 0 || (size[d] == -1 && !is_new), "shape {} does not expand to {}: dimension {} is {}{}",
                 from, size, d, size[d], size[d] == -1 ? ", which cannot be worked out for a new dimension" : "");
    const std::int64_t old = is_new ? 1 : from[d - added];
    if (size[d] == -1) to.sizes[d] = old;
    KEYWAY_CHECK(old == 1 || to.sizes[d] == old, "shape {} does not expand to {}: dimension {} is {}, not 1", from,
                 size, d, old);
    if (to.sizes[d] != old) {
      to.strides[d] = 0;
    } else if (!is_new) {
      to.strides[d] = self.strides()[d - added];
    } else if (from.empty()) {
      to.strides[d] = 0;
    } else {
      to.strides[d] = d + 1 < size.size() ? product_or(to.sizes[d + 1], to.strides[d + 1], 0) : 1;
    }
  }
  checked_numel(to.sizes);
  return to;
}

ViewGeometry diagonal(const TensorBase& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  ViewGeometry to = alias(self);
  const std::size_t row = wrapped(dim1, self.dim()), column = wrapped(dim2, self.dim());
  const std::int64_t rows = to.sizes[row], columns = to.sizes[column];
  const std::int64_t length =
      std::max<std::int64_t>(offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns), 0);
  if (length > 0) to.offset = offset_at(self, offset >= 0 ? offset : -offset, to.strides[offset >= 0 ? column : row]);
  std::int64_t stride = 0;
  if (__builtin_add_overflow(to.strides[row], to.strides[column], &stride)) stride = 1;  // of one element at most
  drop(to, std::max(row, column));
  drop(to, std::min(row, column));
  to.sizes.push_back(length);
  to.strides.push_back(stride);
  return to;
}

ViewGeometry permute(const TensorBase& self, IntArrayRef dims) {
  ViewGeometry to{DimVector(dims.size()), DimVector(dims.size()), self.storage_offset()};
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::size_t from = wrapped(dims[d], self.dim());
    to.sizes[d] = self.sizes()[from];
    to.strides[d] = self.strides()[from];
  }
  return to;
}

ViewGeometry select(const TensorBase& self, std::int64_t dim, std::int64_t index) {
  ViewGeometry to = alias(self);
  const std::size_t d = wrapped(dim, self.dim());
  to.offset = offset_at(self, index < 0 ? index + to.sizes[d] : index, to.strides[d]);
  drop(to, d);
  return to;
}

ViewGeometry slice(const TensorBase& self, std::int64_t dim, std::optional<std::int64_t> start,
                   std::optional<std::int64_t> end, std::int64_t step) {
  ViewGeometry to = alias(self);
  const std::size_t d = wrapped(dim, self.dim());
  const std::int64_t size = to.sizes[d];
  const auto clamped = [&](std::int64_t bound) {
    return std::clamp<std::int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  const std::int64_t first = clamped(start.value_or(0));
  const std::int64_t last = std::max(first, clamped(end.value_or(size)));
  to.sizes[d] = last == first ? 0 : (last - first - 1) / step + 1;
  if (last != first) to.offset = offset_at(self, first, to.strides[d]);
  to.strides[d] = product_or(to.strides[d], step, to.strides[d]);
  return to;
}

ViewGeometry squeeze(const TensorBase& self) {
  ViewGeometry to = alias(self);
  for (std::size_t d = to.sizes.size(); d-- > 0;) {
    if (to.sizes[d] == 1) drop(to, d);
  }
  return to;
}

ViewGeometry squeeze(const TensorBase& self, std::int64_t dim) { return squeeze(self, IntArrayRef(&dim, 1)); }

ViewGeometry squeeze(const TensorBase& self, IntArrayRef dim) {
  SmallVector<bool, 8> chosen(std::max<std::size_t>(self.sizes().size(), 1), false);
  for (const std::int64_t d : dim) chosen[wrapped(d, self.dim())] = true;
  ViewGeometry to = alias(self);
  for (std::size_t d = to.sizes.size(); d-- > 0;) {
    if (chosen[d] && to.sizes[d] == 1) drop(to, d);
  }
  return to;
}

ViewGeometry transpose(const TensorBase& self, std::int64_t dim0, std::int64_t dim1) {
  ViewGeometry to = alias(self);
  const std::size_t a = wrapped(dim0, self.dim()), b = wrapped(dim1, self.dim());
  if (a == b) return to;
  std::swap(to.sizes[a], to.sizes[b]);
  std::swap(to.strides[a], to.strides[b]);
  return to;
}

std::vector<ViewGeometry> split_with_sizes(const TensorBase& self, IntArrayRef split_sizes, std::int64_t dim) {
  const auto at = static_cast<std::size_t>(wrap_dim(dim, self.dim()));
  std::vector<ViewGeometry> parts;
  parts.reserve(split_sizes.size());
  std::int64_t first = 0;
  for (const std::int64_t size : split_sizes) {
    parts.push_back({DimVector(self.sizes()), DimVector(self.strides()), self.storage_offset()});
    parts.back().sizes[at] = size;
    if (size > 0) parts.back().offset = offset_at(self, first, self.strides()[at]);
    first += size;
  }
  return parts;
}

std::vector<ViewGeometry> unbind(const TensorBase& self, std::int64_t dim) {
  std::vector<ViewGeometry> parts;
  const std::int64_t size = self.size(dim);
  parts.reserve(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) parts.push_back(select(self, dim, i));
  return parts;
}

ViewGeometry unfold(const TensorBase& self, std::int64_t dimension, std::int64_t size, std::int64_t step) {
  ViewGeometry to = alias(self);
  KEYWAY_CHECK(self.dim() < kMaxDims, "a tensor has at most {} dimensions, and this one has them", kMaxDims);
  if (self.dim() > 0) {
    const std::size_t d = wrapped(dimension, self.dim());
    const std::int64_t stride = to.strides[d];
    to.sizes[d] = (to.sizes[d] - size) / step + 1;
    to.strides[d] = product_or(stride, step, stride);
    to.strides.push_back(stride);
  } else {
    to.strides.push_back(1);
  }
  to.sizes.push_back(size);
  checked_numel(to.sizes);
  return to;
}

ViewGeometry unsqueeze(const TensorBase& self, std::int64_t dim) {
  ViewGeometry to = alias(self);
  KEYWAY_CHECK(self.dim() < kMaxDims, "a tensor has at most {} dimensions, and this one has them", kMaxDims);
  const std::size_t d = wrapped(dim, self.dim() + 1);
  const bool last = d == to.sizes.size();
  const std::int64_t stride = last ? 1 : product_or(to.sizes[d], to.strides[d], 1);
  to.sizes.insert(d, 1);
  to.strides.insert(d, stride);
  return to;
}

ViewGeometry view(const TensorBase& self, IntArrayRef size) {
  DimVector shape = infer_shape(size, self.numel());
  // In the same shape strides of dimensions of size 1 stay, too.
  if (self.impl()->known_contiguous() && IntArrayRef(shape) != self.sizes()) [[likely]] {
    DimVector rows = contiguous_strides(shape);
    return {std::move(shape), std::move(rows), self.storage_offset()};
  }
  auto strides = view_strides(self.sizes(), self.strides(), shape);
  KEYWAY_CHECK(strides.has_value(),
               "shape {} with strides {} cannot be viewed as {}: its elements do not lie evenly enough; use reshape()",
               self.sizes(), self.strides(), IntArrayRef(shape));
  return {std::move(shape), std::move(*strides), self.storage_offset()};
}

}  // namespace rules

DimVector infer_shape(IntArrayRef shape, std::int64_t numel) {
  DimVector sizes(shape);
  std::optional<std::size_t> open;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != -1) continue;
    KEYWAY_CHECK(!open, "shape {} has more than one -1", shape);
    open = d;
    sizes[d] = 1;
  }
  const std::int64_t rest = checked_numel(sizes);
  if (open && rest != 0 && numel % rest == 0) {
    sizes[*open] = numel / rest;
    return sizes;
  }
  KEYWAY_CHECK(!open || rest != 0 || numel != 0,
               "shape {} leaves its -1 open: any size goes with a product of 0; give the size", shape);
  KEYWAY_CHECK(!open && rest == numel, "shape {} does not fit {} elements", shape, numel);
  return sizes;
}

// The dimensions fall into runs along which elements lie evenly. Each run is divided among the new dimensions, from the
// innermost on; a new dimension that would need parts of two runs cannot be.
std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape) {
  if (sizes == shape) return DimVector(strides);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return contiguous_strides(shape);
  DimVector result(shape.size(), 1);
  std::size_t next = shape.size();
  for (std::size_t d = sizes.size(); d > 0;) {
    const std::int64_t stride = strides[--d];
    std::int64_t run = sizes[d];
    if (run == 1) continue;
    for (; d > 0 && (sizes[d - 1] == 1 || strides[d - 1] == product_or(run, stride, -1)); --d) run *= sizes[d - 1];
    std::int64_t filled = 1;
    for (; next > 0 && (filled < run || shape[next - 1] == 1); --next) {
      result[next - 1] = product_or(filled, stride, stride);
      filled *= shape[next - 1];
    }
    if (filled != run) return std::nullopt;
  }
  return result;
}

}  // namespace keyway::inline v1
