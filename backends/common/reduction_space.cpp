#include <keyway/backends/common/reduction_space.h>

#include <algorithm>

namespace keyway::inline v1::detail {

void make_reduction_space(IterationSpace& space, const TensorBase& out, const TensorBase* second,
                          const TensorBase& self, IntArrayRef dims, bool indexed) {
  const auto rank = static_cast<int>(self.dim());
  bool is_reduced[kMaxDims];
  std::fill_n(is_reduced, rank, dims.empty());
  for (const std::int64_t d : dims) {
    if (d < rank) is_reduced[d] = true;
  }
  const TensorBase* const tensors[] = {&self, &out, second != nullptr ? second : &out};
  space.rank = 0;
  space.operands = 4;
  for (const int k : {kSelf, kOut, kSecond}) space.data[k] = static_cast<char*>(tensors[k]->data_ptr());
  space.data[kIndex] = nullptr;
  const bool keepdim = out.dim() == self.dim();
  auto out_dim = static_cast<std::size_t>(out.dim());
  std::int64_t index_step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const std::int64_t size = self.sizes()[static_cast<std::size_t>(i)];
    if (keepdim || !is_reduced[i]) --out_dim;
    if (size == 1) continue;
    const int d = space.rank++;
    space.sizes[d] = size;
    space.strides[kSelf][d] = self.strides()[static_cast<std::size_t>(i)] * static_cast<std::int64_t>(self.itemsize());
    for (const int k : {kOut, kSecond}) {
      space.strides[k][d] =
          is_reduced[i] ? 0 : tensors[k]->strides()[out_dim] * static_cast<std::int64_t>(tensors[k]->itemsize());
    }
    space.strides[kIndex][d] = indexed && is_reduced[i] ? index_step : 0;
    if (is_reduced[i]) index_step *= size;
  }
  simplify(space);
}

}  // namespace keyway::inline v1::detail
