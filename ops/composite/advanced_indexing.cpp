#include <keyway/ops/advanced_indexing_composites.h>
#include <keyway/ops/all.h>

#include <optional>
#include <vector>

namespace keyway::inline v1::composite {

namespace {

using Indices = std::vector<std::optional<Tensor>>;

bool is_mask(const Tensor& index) { return index.dtype() == kBool || index.dtype() == kByte; }

// A mask stands for the dimensions of `self` from `at` on, and has their sizes.
void check_mask(const Tensor& self, const Tensor& mask, std::size_t at) {
  const IntArrayRef sizes = mask.sizes();
  const bool fits = at + sizes.size() <= self.sizes().size() && self.sizes().slice(at, sizes.size()) == sizes;
  KEYWAY_CHECK_AS(Index, fits && !sizes.empty(), "a mask of shape {} does not fit the sizes {} at dimension {}", sizes,
                  self.sizes(), at);
}

// The indices with each mask replaced by those of its true elements, one for each of its dimensions.
Indices without_masks(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  Indices out;
  for (const std::optional<Tensor>& index : indices) {
    if (!index || !index->defined()) {
      out.emplace_back();
      continue;
    }
    if (!is_mask(*index)) {
      out.push_back(index);
      continue;
    }
    const std::size_t at = out.size();
    check_mask(self, *index, at);
    const Tensor coordinates = keyway::nonzero(*index);
    for (std::int64_t d = 0; d < index->dim(); ++d) out.emplace_back(coordinates.select(1, d));
  }
  return out;
}

}  // namespace

Tensor index(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  return keyway::_index(self, without_masks(self, indices));
}

namespace {

// How many elements a mask picks is not known on Meta; the result of index_put is like self anyway, and depends on all
// of the values.
bool has_unknown_mask(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  bool any = false;
  std::size_t at = 0;
  for (const std::optional<Tensor>& index : indices) {
    const bool mask = index && index->defined() && is_mask(*index);
    if (mask) check_mask(self, *index, at);
    any = any || (mask && index->is_meta());
    at += mask ? index->sizes().size() : 1;
  }
  return any;
}

}  // namespace

Tensor index_put(const Tensor& self, ArrayRef<std::optional<Tensor>> indices, const Tensor& values, bool accumulate) {
  if (has_unknown_mask(self, indices)) return keyway::_index_put(self, {}, values.sum(values.dtype()), accumulate);
  return keyway::_index_put(self, without_masks(self, indices), values, accumulate);
}

Tensor& index_put_(Tensor& self, ArrayRef<std::optional<Tensor>> indices, const Tensor& values, bool accumulate) {
  if (has_unknown_mask(self, indices)) return keyway::_index_put_(self, {}, values.sum(values.dtype()), accumulate);
  return keyway::_index_put_(self, without_masks(self, indices), values, accumulate);
}

}  // namespace keyway::inline v1::composite
