#include <keyway/ops/all.h>
#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/scatter_composites.h>

namespace keyway::inline v1::composite {

namespace {

// A copy of `self`, in which gradients flow through views.
Tensor with(const Tensor& self, const Tensor& src, const auto& view) {
  Tensor result = self.clone();
  const Tensor place = view(result);
  KEYWAY_CHECK(place.sizes() == src.sizes(), "src has shape {}, but the slice has {}", src.sizes(), place.sizes());
  place.copy_(src);
  return result;
}

}  // namespace

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const DimVector sizes = broadcast_sizes(self.sizes(), mask.sizes());
  const Tensor places = keyway::nonzero(mask.expand(sizes).reshape({-1})).reshape({-1});
  KEYWAY_CHECK(places.numel() <= source.numel(), "the mask has {} true elements, but source has only {}",
               places.numel(), source.numel());
  const Tensor taken = source.reshape({-1}).slice(0, 0, places.numel());
  return self.expand(sizes).reshape({-1}).index_copy(0, places, taken).reshape(sizes);
}

Tensor select_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index) {
  return with(self, src, [&](const Tensor& result) { return result.select(dim, index); });
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start,
                     std::optional<std::int64_t> end, std::int64_t step) {
  return with(self, src, [&](const Tensor& result) { return result.slice(dim, start, end, step); });
}

}  // namespace keyway::inline v1::composite
