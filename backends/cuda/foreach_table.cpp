#include <keyway/backends/cuda/foreach_table.h>

#include <algorithm>
#include <vector>

namespace keyway::inline v1::cuda {

namespace {

// What a tensor of a list has in memory.
struct Range {
  std::uintptr_t begin, end;
  bool written;

  bool disturbs(const Range& other) const {
    return (written || other.written) && begin < other.end && other.begin < end;
  }
};

Range range_of(const char* data, std::int64_t numel, std::size_t itemsize, bool written) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, data == nullptr ? begin : begin + static_cast<std::uintptr_t>(numel) * itemsize, written};
}

// Whether index i of the lists may not run at the same time as what the table has.
bool disturbs(const ForeachTable& table, const ForeachLists& lists, int count, std::size_t i) {
  const std::size_t itemsize = element_size(lists.dtype());
  const auto is_written = [&](int l) { return (table.written >> l & 1) != 0; };
  for (int l = 0; l < count; ++l) {
    const Range own = range_of(lists.data(static_cast<std::size_t>(l), i), lists.numel(i), itemsize, is_written(l));
    for (std::uint32_t t = 0; t < table.tensors; ++t) {
      for (int k = 0; k < count; ++k) {
        if (own.disturbs(range_of(table.data[k][t], table.numel[t], itemsize, is_written(k)))) return true;
      }
    }
  }
  return false;
}

}  // namespace

bool are_apart(const ForeachLists& lists, int count) {
  if (lists.tensors() < 2) return true;
  const std::size_t itemsize = element_size(lists.dtype());
  std::vector<Range> ranges;
  ranges.reserve(lists.tensors() * static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < lists.tensors(); ++i) {
    for (int l = 0; l < count; ++l) {
      ranges.push_back(range_of(lists.data(static_cast<std::size_t>(l), i), lists.numel(i), itemsize,
                                (lists.written() >> l & 1) != 0));
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uintptr_t end = 0, written_end = 0;  // of those before
  for (const Range& range : ranges) {
    if (range.begin == range.end) continue;
    if (range.begin < (range.written ? end : written_end)) return false;
    end = std::max(end, range.end);
    if (range.written) written_end = std::max(written_end, range.end);
  }
  return true;
}

std::size_t fill_table(ForeachTable& table, const ForeachLists& lists, int count, ArrayRef<TensorBase> steps,
                       std::size_t begin, bool apart) {
  constexpr std::uint64_t kMaxBlocks = (std::uint64_t{1} << 31) - 1;
  table = {};
  table.written = lists.written();
  std::size_t i = begin;
  for (; i < lists.tensors() && table.tensors < kForeachTensors; ++i) {
    const std::int64_t numel = lists.numel(i);
    if (numel == 0) continue;
    const std::uint64_t blocks =
        table.blocks() + (static_cast<std::uint64_t>(numel) + kForeachChunk - 1) / kForeachChunk;
    if (blocks > kMaxBlocks || (!apart && disturbs(table, lists, count, i))) break;
    const std::uint32_t t = table.tensors++;
    for (int l = 0; l < count; ++l) table.data[l][t] = lists.data(static_cast<std::size_t>(l), i);
    table.step[t] = steps.empty() ? nullptr : static_cast<const float*>(steps[i].data_ptr());
    table.numel[t] = numel;
    table.first_block[t + 1] = static_cast<std::uint32_t>(blocks);
  }
  return i;
}

}  // namespace keyway::inline v1::cuda
