#include <keyway/ops/composite/gather_weighted.h>

namespace keyway::inline v1::composite {

Tensor gather_weighted(const Tensor& table, const Tensor& indices, const Tensor& weights, bool all_there) {
  if (ops::_gather_weighted.has_kernel_for(table.device().type()))
    return keyway::_gather_weighted(table, indices, weights);
  const std::int64_t images = table.size(0), taps = indices.size(2), count = indices.size(3);
  const Tensor is_there = all_there ? Tensor() : (indices >= 0).unsqueeze(-1);
  const Tensor list = (all_there ? indices : indices.clamp(0)).reshape({images, 1, checked_numel({taps, count}), 1});
  Tensor elements = images == 1 ? table.index_select(2, list.flatten())
                                : table.gather(2, list.expand({images, table.size(1), list.size(2), table.size(3)}));
  elements = elements.unflatten(2, {taps, count}) * weights.unsqueeze(-1);
  if (!all_there) elements = keyway::where(is_there, elements, 0);
  return elements.sum(2, false, table.dtype());
}

}  // namespace keyway::inline v1::composite
