// ForeachTable: what one launch over lists of tensors works on, in the kernel's parameters. Host code fills it, and
// tests walk through it without a device.
#pragma once

#include <keyway/backends/common/foreach_lists.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

inline constexpr int kForeachLists = 5;
inline constexpr int kForeachTensors = 64;
inline constexpr unsigned kForeachThreads = 256;
// Each thread takes so many elements, kForeachThreads apart, before the next round of them.
inline constexpr unsigned kForeachElements = 4;
inline constexpr unsigned kForeachRounds = 4;
// Of one tensor, for one block of threads.
inline constexpr unsigned kForeachChunk = kForeachThreads * kForeachElements * kForeachRounds;

struct ForeachTable {
  char* data[kForeachLists][kForeachTensors];  // null: the list is absent
  const float* step[kForeachTensors];          // or null
  std::int64_t numel[kForeachTensors];
  std::uint32_t first_block[kForeachTensors + 1];  // of each tensor, and the number of all
  std::uint32_t tensors;
  std::uint32_t written;  // bit i: list i

  std::uint32_t blocks() const { return first_block[tensors]; }
  // The tensor that a block works on. Requires: block < first_block[tensors].
  KEYWAY_HD std::uint32_t tensor_of(std::uint32_t block) const {
    std::uint32_t low = 0, high = tensors;
    while (high - low > 1) {
      const std::uint32_t middle = (low + high) / 2;
      (first_block[middle] <= block ? low : high) = middle;
    }
    return low;
  }
};

// Whether nothing that one index of the first `count` lists writes is read or written by another index, as the same
// tensor twice would be. It may be wrong about lists where it is so, but not about others.
bool are_apart(const ForeachLists& lists, int count);

// Puts tensors of the first `count` lists into the table, from number `begin` on, as many as it takes; those without
// elements are left out. Blocks of a table run in any order: unless `apart`, what the table has written or read before
// is not written, nor what it has written read, but left to the next one. Returns where that begins. `steps`: a number
// for each tensor, or none.
std::size_t fill_table(ForeachTable& table, const ForeachLists& lists, int count, ArrayRef<TensorBase> steps,
                       std::size_t begin, bool apart);

// Calls launch(table) for as many tables as the lists take.
template <typename Launch>
void for_each_table(const ForeachLists& lists, int count, ArrayRef<TensorBase> steps, const Launch& launch) {
  const bool apart = are_apart(lists, count);
  for (std::size_t next = 0; next < lists.tensors();) {
    ForeachTable table;
    next = fill_table(table, lists, count, steps, next, apart);
    if (table.tensors > 0) launch(table);
  }
}

}  // namespace keyway::inline v1::cuda
