#include <keyway/ops/all.h>
#include <keyway/ops/joining_composites.h>

#include <vector>

namespace keyway::inline v1::composite {

std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  const std::int64_t size = self.size(dim);
  const std::int64_t part = size == 0 ? 0 : (size - 1) / chunks + 1;
  if (size > 0) return self.split(part, dim);
  const DimVector parts(static_cast<std::size_t>(chunks), 0);
  return self.split_with_sizes(parts, dim);
}

std::vector<Tensor> split(const Tensor& self, std::int64_t split_size, std::int64_t dim) {
  const std::int64_t size = self.size(dim);
  DimVector parts;
  for (std::int64_t start = 0; start < size; start += parts.back()) {
    parts.push_back(split_size < size - start ? split_size : size - start);
  }
  if (parts.empty()) parts.push_back(0);
  return self.split_with_sizes(parts, dim);
}

std::vector<Tensor> split_sizes(const Tensor& self, IntArrayRef split_size, std::int64_t dim) {
  return self.split_with_sizes(split_size, dim);
}

Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const std::int64_t first = start < 0 ? start + self.size(dim) : start;
  return self.slice(dim, first, first + length);
}

// Each dimension becomes two, the first of which is expanded.
Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const std::size_t added = repeats.size() - self.sizes().size();
  DimVector apart, expanded, sizes;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    const std::int64_t size = d < added ? 1 : self.sizes()[d - added];
    apart.push_back(1);
    apart.push_back(size);
    expanded.push_back(repeats[d]);
    expanded.push_back(size);
    sizes.push_back(checked_numel({repeats[d], size}));
  }
  checked_numel(sizes);
  const Tensor result = self.reshape(apart).expand(expanded).reshape(sizes);
  return result.is_alias_of(self) ? result.clone() : result;
}

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  if (self.numel() == 0) return self.clone();
  if (dims.empty()) return self.reshape({self.numel()}).roll(shifts, {0}).reshape(self.sizes());
  Tensor result = self;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t size = result.size(dims[i]);
    const std::int64_t shift = (shifts[i] % size + size) % size;
    result =
        keyway::cat({result.narrow(dims[i], size - shift, shift), result.narrow(dims[i], 0, size - shift)}, dims[i]);
  }
  return result;
}

Tensor stack(ArrayRef<Tensor> tensors, std::int64_t dim) {
  const std::int64_t at = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> apart;
  apart.reserve(tensors.size());
  for (const Tensor& tensor : tensors) apart.push_back(tensor.unsqueeze(at));
  return keyway::cat(apart, at);
}

}  // namespace keyway::inline v1::composite
