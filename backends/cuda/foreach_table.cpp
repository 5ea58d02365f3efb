#include <keyway/backends/cuda/foreach_table.h>

namespace keyway::inline v1::cuda {

std::size_t fill_table(ForeachTable& table, const ForeachLists& lists, int count, ArrayRef<TensorBase> steps,
                       std::size_t begin) {
  constexpr std::uint64_t kMaxBlocks = (std::uint64_t{1} << 31) - 1;
  table = {};
  table.written = lists.written();
  std::size_t i = begin;
  for (; i < lists.tensors() && table.tensors < kForeachTensors; ++i) {
    const std::int64_t numel = lists.numel(i);
    if (numel == 0) continue;
    const std::uint64_t blocks =
        table.blocks() + (static_cast<std::uint64_t>(numel) + kForeachChunk - 1) / kForeachChunk;
    if (blocks > kMaxBlocks) break;
    const std::uint32_t t = table.tensors++;
    for (int l = 0; l < count; ++l) table.data[l][t] = lists.data(static_cast<std::size_t>(l), i);
    table.step[t] = steps.empty() ? nullptr : static_cast<const float*>(steps[i].data_ptr());
    table.numel[t] = numel;
    table.first_block[t + 1] = static_cast<std::uint32_t>(blocks);
  }
  return i;
}

}  // namespace keyway::inline v1::cuda
