#include <keyway/dispatch/call/call_declined.h>
#include <keyway/graph/decompositions/decompositions.h>

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace keyway::inline v1::graph::decompositions {
namespace {

DimVector all_dims(const Tensor& self) {
  DimVector dims(static_cast<std::size_t>(self.dim()));
  std::iota(dims.begin(), dims.end(), std::int64_t{0});
  return dims;
}

// Where a factor is 0, NaN and infinities of what it stands before are not seen.
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  const auto scaled = [](const Tensor& x, const Scalar& by) { return by == 1 ? x : x * by; };
  const Tensor x = composite::to_opmath(self), a = composite::to_opmath(batch1), b = composite::to_opmath(batch2);
  const Tensor product =
      alpha == 0 ? keyway::zeros({a.size(0), a.size(1), b.size(2)}, x.options()) : scaled(keyway::bmm(a, b), alpha);
  return composite::narrowed(beta == 0 ? product : scaled(x, beta) + product, self.dtype());
}

TensorOptions options_of(ScalarType dtype, Device device, std::optional<bool> pin_memory) {
  if (pin_memory.value_or(false)) throw CallDeclined("no core operator pins memory");
  return TensorOptions().dtype(dtype).device(device);
}

// What nobody has set may be zeros.
Tensor empty_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout>,
                  std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  const TensorOptions options = options_of(dtype.value_or(self.dtype()), device.value_or(self.device()), pin_memory);
  return keyway::full_like(self, 0, options, memory_format);
}

Tensor new_empty(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout>,
                 std::optional<Device> device, std::optional<bool> pin_memory) {
  return keyway::full(size, 0, options_of(dtype.value_or(self.dtype()), device.value_or(self.device()), pin_memory));
}

// Bytes are not shared: the elements are the same.
Tensor lazy_clone(const Tensor& self) { return self.clone(); }

// Where no gradient is recorded there is no history to end.
Tensor detach(const Tensor& self) {
  if (grad_enabled()) throw CallDeclined("no core operator ends a history");
  return keyway::alias(self);
}

// The diagonal's dimensions stand first while it is written.
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, std::int64_t offset, std::int64_t dim1,
                        std::int64_t dim2) {
  const std::int64_t count = src.size(-1);
  const auto places = [&](std::int64_t first) {
    return std::optional(keyway::arange(first, first + count, TensorOptions().dtype(kLong).device(self.device())));
  };
  const std::vector<std::optional<Tensor>> indices{places(offset < 0 ? -offset : 0), places(offset < 0 ? 0 : offset)};
  const Tensor first = self.movedim({dim1, dim2}, {0, 1});
  return keyway::index_put(first, indices, src.movedim(-1, 0), false).movedim({0, 1}, {dim1, dim2});
}

// For each position within a window, in rows, where all windows have it.
Tensor positions(std::int64_t size, std::int64_t length, std::int64_t dilation, std::int64_t stride, Device device) {
  const TensorOptions options = TensorOptions().device(device);
  const std::int64_t count = (size - dilation * (length - 1) - 1) / stride + 1;
  return keyway::arange(length, options).unsqueeze(1) * dilation + keyway::arange(count, options) * stride;
}

Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  const auto of = [](IntArrayRef list, std::size_t at) { return list[list.size() == 1 ? 0 : at]; };
  const Tensor images = self.dim() == 3 ? self.unsqueeze(0) : self;
  const std::int64_t high = of(padding, 0), wide = of(padding, 1);
  const Tensor padded = high == 0 && wide == 0 ? images : keyway::constant_pad_nd(images, {wide, wide, high, high});
  const auto along = [&](std::size_t at) {
    return positions(padded.size(2 + static_cast<std::int64_t>(at)), of(kernel_size, at), of(dilation, at),
                     of(stride, at), self.device());
  };
  const Tensor rows = along(0).unsqueeze(1).unsqueeze(-1), columns = along(1).unsqueeze(1);
  const Tensor windows = keyway::index(padded, {std::nullopt, std::nullopt, rows, columns});
  const Tensor result = windows.flatten(4).flatten(1, 3);
  return self.dim() == 3 ? result.squeeze(0) : result;
}

Tensor squeeze(const Tensor& self) { return self.squeeze(all_dims(self)); }

Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  DimVector order = all_dims(self);
  const auto at = [&](std::int64_t dim) -> std::int64_t& {
    return order[static_cast<std::size_t>(dim < 0 ? dim + self.dim() : dim)];
  };
  if (self.dim() > 0) std::swap(at(dim0), at(dim1));
  return self.permute(order);
}

std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim) {
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < self.size(dim); ++i) parts.push_back(self.select(dim, i));
  return parts;
}

}  // namespace

void add_shapes(Decompositions& table) {
  table.set("_lazy_clone", &lazy_clone);
  table.set("baddbmm", &baddbmm);
  table.set("detach", &detach);
  table.set("diagonal_scatter", &diagonal_scatter);
  table.set("empty_like", &empty_like);
  table.set("im2col", &im2col);
  table.set("new_empty", &new_empty);
  table.set("squeeze", &squeeze);
  table.set("transpose.int", &transpose);
  table.set("unbind.int", &unbind);
}

}  // namespace keyway::inline v1::graph::decompositions
