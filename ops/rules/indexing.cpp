#include <keyway/core/base/error.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/ops/rules/indexing.h>

namespace keyway::inline v1::rules {

OutputMeta embedding(const TensorBase& weight, const TensorBase& indices, std::int64_t, bool, bool) {
  OutputMeta meta = meta_of(indices.sizes());
  meta.sizes.push_back(weight.sizes()[1]);
  return meta;
}

OutputMeta index_select(const TensorBase& self, std::int64_t dim, const TensorBase& index) {
  OutputMeta meta = meta_of(self.sizes());
  const auto at = static_cast<std::size_t>(wrap_dim(dim, self.dim()));
  if (self.dim() > 0) {
    meta.sizes[at] = index.numel();
  } else {
    KEYWAY_CHECK(index.numel() == 1, "a tensor without dimensions has one element, but there are {} indices",
                 index.numel());
  }
  return meta;
}

OutputMeta embedding_dense_backward(const TensorBase& grad_output, const TensorBase&, std::int64_t num_weights,
                                    std::int64_t, bool) {
  return meta_of({num_weights, grad_output.sizes().back()});
}

OutputMeta index_add(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& source,
                     const Scalar&) {
  return index_copy(self, dim, index, source);
}

OutputMeta index_copy(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& source) {
  DimVector sizes = index_select(self, dim, index).sizes;
  const bool number = self.dim() == 0 && source.numel() == 1 && source.dim() <= 1;
  KEYWAY_CHECK_AS(Index, number || source.sizes() == IntArrayRef(sizes), "source has shape {}, but must have {}",
                  source.sizes(), IntArrayRef(sizes));
  return meta_like(self);
}

}  // namespace keyway::inline v1::rules
