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

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  const auto scaled = [](const Tensor& x, const Scalar& by) { return by == 1 ? x : x * by; };
  const Tensor product = scaled(keyway::bmm(batch1, batch2), alpha);
  return beta == 0 ? product : scaled(self, beta) + product;
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
  table.set("baddbmm", &baddbmm);
  table.set("detach", &detach);
  table.set("diagonal_scatter", &diagonal_scatter);
  table.set("empty_like", &empty_like);
  table.set("new_empty", &new_empty);
  table.set("squeeze", &squeeze);
  table.set("transpose.int", &transpose);
  table.set("unbind.int", &unbind);
}

}  // namespace keyway::inline v1::graph::decompositions
