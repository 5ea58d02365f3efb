#include <keyway/core/base/error.h>
#include <keyway/ops/rules/advanced_indexing.h>
#include <keyway/ops/rules/broadcast.h>

namespace keyway::inline v1::rules {

DimVector IndexedShape::sizes() const {
  DimVector sizes(IntArrayRef(block_sizes).slice(0, first_row_dim));
  for (const std::int64_t size : rows) sizes.push_back(size);
  for (const std::int64_t size : IntArrayRef(block_sizes).slice(first_row_dim)) sizes.push_back(size);
  return sizes;
}

IndexedShape indexed_shape(const TensorBase& self, ArrayRef<TensorBase> indices) {
  IndexedShape shape;
  const std::size_t rank = self.sizes().size();
  std::size_t count = 0, first = rank, last = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    if (d < indices.size() && indices[d].defined()) {
      shape.rows = broadcast_sizes(shape.rows, indices[d].sizes());
      first = count++ == 0 ? d : first;
      last = d;
    } else {
      shape.block.push_back(static_cast<std::int64_t>(d));
      shape.block_sizes.push_back(self.sizes()[d]);
    }
  }
  const bool neighbours = count > 0 && last - first + 1 == count;
  shape.first_row_dim = neighbours ? first : 0;
  return shape;
}

OutputMeta _index(const TensorBase& self, ArrayRef<TensorBase> indices) {
  for (std::size_t d = 0; d < indices.size(); ++d) {
    KEYWAY_CHECK_AS(Index, !indices[d].defined() || indices[d].numel() == 0 || self.sizes()[d] > 0,
                    "dimension {} of self has size 0, so no index is in range", d);
  }
  return meta_of(indexed_shape(self, indices).sizes());
}

OutputMeta _index_put(const TensorBase& self, ArrayRef<TensorBase>, const TensorBase&, bool) { return meta_like(self); }

}  // namespace keyway::inline v1::rules
