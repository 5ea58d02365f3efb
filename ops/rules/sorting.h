// Rules of sorting.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <array>
#include <optional>

namespace keyway::inline v1::rules {

inline std::array<OutputMeta, 2> _order_statistic(const TensorBase&, const TensorBase& ranks, std::int64_t) {
  return {meta_of(ranks.sizes()), meta_of(ranks.sizes())};
}
inline std::array<OutputMeta, 2> sort(const TensorBase& self, std::optional<bool>, std::int64_t, bool) {
  return {meta_like(self), meta_like(self)};
}
inline std::array<OutputMeta, 2> topk(const TensorBase& self, std::int64_t k, std::int64_t dim, bool, bool) {
  OutputMeta meta = meta_of(self.sizes());
  if (self.dim() > 0) meta.sizes[static_cast<std::size_t>(wrap_dim(dim, self.dim()))] = k;
  return {meta, meta};
}

}  // namespace keyway::inline v1::rules
