#include <keyway/core/tensor/geometry.h>
#include <keyway/ops/all.h>
#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/rules/contracts.h>
#include <keyway/ops/scatter_composites.h>

namespace keyway::inline v1::composite {

namespace {

// `result`, a copy, in which gradients flow through views.
Tensor with(const Tensor& result, const Tensor& src, const auto& view) {
  const Tensor target = view(result);
  KEYWAY_CHECK(target.sizes() == src.sizes(), "src has shape {}, but the slice has {}", src.sizes(), target.sizes());
  target.copy_(src);
  return result;
}

// With the same strides and offset, unless there are no elements, or some share memory.
Tensor copy_in_place(const Tensor& self) {
  if (self.numel() == 0 || overlaps_itself(self.sizes(), self.strides())) return self.clone();
  std::int64_t last = self.storage_offset();
  for (std::size_t d = 0; d < self.sizes().size(); ++d) last += (self.sizes()[d] - 1) * self.strides()[d];
  const Tensor all = self.as_strided({last + 1}, {1}, 0).clone();
  return all.as_strided(self.sizes(), self.strides(), self.storage_offset());
}

}  // namespace

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                          std::optional<std::int64_t> storage_offset) {
  const auto view = [&](const Tensor& result) { return result.as_strided(size, stride, storage_offset); };
  return with(copy_in_place(self), src, view);
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, std::int64_t offset, std::int64_t dim1,
                        std::int64_t dim2) {
  return with(self.clone(), src, [&](const Tensor& result) { return result.diagonal(offset, dim1, dim2); });
}

Tensor index_reduce(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  if (self.dim() == 0) {
    const Tensor only = source.reshape({source.numel()});
    return self.unsqueeze(0).index_reduce(0, index, only, reduce, include_self).squeeze(0);
  }
  const auto at = static_cast<std::size_t>(wrap_dim(dim, self.dim()));
  DimVector wanted(self.sizes()), along(self.sizes().size(), 1);
  wanted[at] = along[at] = index.numel();
  KEYWAY_CHECK(source.sizes() == wanted, "source has shape {}, but must have {}", source.sizes(), wanted);
  const Tensor indices = index.to(kLong).reshape(along).expand(wanted);
  return self.scatter_reduce(dim, indices, source, reduce, include_self);
}

// The n-th position where the mask holds takes the n-th element: n by a running count.
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  (void)common_device({{"self", self}, {"mask", mask}, {"source", source}});
  const DimVector sizes = broadcast_sizes(self.sizes(), mask.sizes());
  const Tensor holds = mask.expand(sizes), count = holds.reshape({-1}).cumsum(0);
  if (count.numel() > 0 && !count.is_meta()) {
    keyway::_assert_async(count.select(0, -1) <= source.numel(),
                          "the mask has more true elements than source has, " + std::to_string(source.numel()));
  }
  if (count.numel() == 0 || source.numel() == 0) return self.expand(sizes).clone();
  const Tensor taken = source.reshape({-1}).index_select(0, (count - 1).clamp(0)).reshape(sizes);
  return keyway::where(holds, taken, self);
}

Tensor scatter_reducing(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
                        std::string_view reduce) {
  return reduce == "add" ? self.scatter_add(dim, index, src) : self.scatter_reduce(dim, index, src, "prod");
}

Tensor scatter_reducing_value(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value,
                              std::string_view reduce) {
  return scatter_reducing(self, dim, index, keyway::full(index.sizes(), value, self.options()), reduce);
}

Tensor select_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index) {
  return with(self.clone(), src, [&](const Tensor& result) { return result.select(dim, index); });
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start,
                     std::optional<std::int64_t> end, std::int64_t step) {
  return with(self.clone(), src, [&](const Tensor& result) { return result.slice(dim, start, end, step); });
}

}  // namespace keyway::inline v1::composite
