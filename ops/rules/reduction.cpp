#include <keyway/ops/rules/reduction.h>

#include <algorithm>

namespace keyway::inline v1 {

OutputMeta reduced_meta(const TensorBase& self, std::optional<IntArrayRef> dim, bool keepdim) {
  const IntArrayRef sizes = self.sizes();
  const bool all = !dim || dim->empty();
  SmallVector<bool, 8> reduced(std::max<std::size_t>(sizes.size(), 1), all);
  if (!all) {
    for (const std::int64_t d : *dim) reduced[static_cast<std::size_t>(wrap_dim(d, self.dim()))] = true;
  }
  OutputMeta meta;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!reduced[d] || keepdim) meta.sizes.push_back(reduced[d] ? 1 : sizes[d]);
  }
  return meta;
}

}  // namespace keyway::inline v1
