#include <keyway/ops/all.h>
#include <keyway/ops/composite/parts.h>
#include <keyway/ops/joining_composites.h>

#include <vector>

namespace keyway::inline v1::composite {

namespace {

// Vectors become rows of matrices, and matrices one deep, as far as it takes.
Tensor with_dims(const Tensor& tensor, std::int64_t dims) {
  Tensor result = tensor.dim() == 0 ? tensor.unsqueeze(0) : tensor;
  if (result.dim() == 1 && dims > 1) result = result.unsqueeze(0);
  return result.dim() == 2 && dims > 2 ? result.unsqueeze(2) : result;
}

std::vector<Tensor> all_with_dims(ArrayRef<Tensor> tensors, std::int64_t dims) {
  std::vector<Tensor> all;
  all.reserve(tensors.size());
  for (const Tensor& tensor : tensors) all.push_back(with_dims(tensor, dims));
  return all;
}

}  // namespace

std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  const std::int64_t size = self.size(dim);
  const std::int64_t part = size == 0 ? 0 : (size - 1) / chunks + 1;
  if (size > 0) return self.split(part, dim);
  check_parts("chunks", chunks, size);
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

Tensor rot90(const Tensor& self, std::int64_t k, IntArrayRef dims) {
  const std::int64_t turns = (k % 4 + 4) % 4;
  if (turns == 0) return self.clone();
  if (turns == 2) return self.flip(dims);
  // A flip and a transposition: which dimension is flipped says which way it turns.
  Tensor turned = self.flip({dims[turns == 1 ? 1 : 0]});
  return turned.transpose_(dims[0], dims[1]);
}

Tensor column_stack(ArrayRef<Tensor> tensors) {
  std::vector<Tensor> columns;
  columns.reserve(tensors.size());
  for (const Tensor& tensor : tensors) columns.push_back(tensor.dim() <= 1 ? tensor.reshape({-1, 1}) : tensor);
  return keyway::cat(columns, 1);
}

Tensor dstack(ArrayRef<Tensor> tensors) { return keyway::cat(all_with_dims(tensors, 3), 2); }

Tensor fliplr(const Tensor& self) { return self.flip({1}); }

Tensor flipud(const Tensor& self) { return self.flip({0}); }

Tensor hstack(ArrayRef<Tensor> tensors) {
  const std::vector<Tensor> parts = all_with_dims(tensors, 1);
  return keyway::cat(parts, parts[0].dim() == 1 ? 0 : 1);
}

Tensor stack(ArrayRef<Tensor> tensors, std::int64_t dim) {
  const std::int64_t at = wrap_dim(dim, tensors[0].dim() + 1);
  std::vector<Tensor> apart;
  apart.reserve(tensors.size());
  for (const Tensor& tensor : tensors) apart.push_back(tensor.unsqueeze(at));
  return keyway::cat(apart, at);
}

Tensor vstack(ArrayRef<Tensor> tensors) { return keyway::cat(all_with_dims(tensors, 2), 0); }

}  // namespace keyway::inline v1::composite
