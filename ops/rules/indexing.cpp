#include <keyway/core/base/error.h>
#include <keyway/ops/rules/indexing.h>

namespace keyway::inline v1::rules {

OutputMeta embedding(const TensorBase& weight, const TensorBase& indices, std::int64_t, bool, bool) {
  OutputMeta meta = meta_of(indices.sizes());
  meta.sizes.push_back(weight.sizes()[1]);
  return meta;
}

OutputMeta index_select(const TensorBase& self, std::int64_t dim, const TensorBase& index) {
  OutputMeta meta = meta_of(self.sizes());
  const auto place = static_cast<std::size_t>(wrap_dim(dim, self.dim()));
  if (self.dim() > 0) {
    meta.sizes[place] = index.numel();
  } else {
    KEYWAY_CHECK(index.numel() == 1, "a tensor without dimensions has one element, but there are {} indices",
                 index.numel());
  }
  return meta;
}

}  // namespace keyway::inline v1::rules
