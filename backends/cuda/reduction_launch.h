// How a reduction is shared out among the threads of a device. It depends on shape, strides and dtype alone, so that
// results are the same to the last bit on every device, each time.
#pragma once

#include <keyway/backends/common/reduction_space.h>
#include <keyway/backends/cuda/launch_space.h>
#include <keyway/backends/cuda/teams.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::cuda {

// Bytes of one access of a thread, and neighbours that it reads so.
inline constexpr int kPieceBytes = 16;
KEYWAY_HD constexpr int piece_width(std::int64_t itemsize) {
  return itemsize < kPieceBytes ? kPieceBytes / static_cast<int>(itemsize) : 1;
}

// A launch of blocks of kTeamThreads threads. Block (x, y) has the y-th unit of some outputs; a team goes through the
// items of each: the thread of rank r has items r, r + teams.size, ... of the unit. An item is an element, or a piece:
// neighbours along the innermost dimension, of which the last piece may have fewer.
struct ReductionLaunch {
  LaunchSpace kept;            // of outputs; operands kSelf, kOut and kSecond
  LaunchSpace reduced;         // of the elements of each; operands kSelf and kIndex, as data[0] and data[1]
  const char* self = nullptr;  // what data of kSelf count from, and indices, a byte for one
  std::uint32_t width = 1;     // elements of an item
  bool aligned = false;        // every piece begins at a multiple of its size
  std::uint32_t unit = 0;      // items
  std::uint32_t units = 0;
  std::uint32_t first_unit = 0;  // the position of the launch's units among all
  Teams teams;                   // of outputs
  std::int64_t count = 0;        // elements of an output in all launches
  char* partial = nullptr;  // accumulators, those of the units of an output `kept.numel` apart; null: there is one unit

  KEYWAY_HD std::uint32_t items() const { return (reduced.numel - 1) / width + 1; }
  // The first item of a unit, and the end of it.
  KEYWAY_HD std::uint32_t unit_begin(std::uint32_t number) const { return number * unit; }
  KEYWAY_HD std::uint32_t unit_end(std::uint32_t number) const {
    const std::uint32_t end = (number + 1) * unit, all = items();
    return end < all ? end : all;
  }

  // How far elements are from the first of their output, in bytes, and for N = 2 their indices.
  template <int N, int M>
  KEYWAY_HD void locate(const std::uint32_t (&elements)[M], std::int64_t (&at)[M][N]) const {
    if (reduced.rank == 1) {
      // Most often: nothing is to be divided.
      for (int m = 0; m < M; ++m) {
        for (int k = 0; k < N; ++k) at[m][k] = elements[m] * reduced.strides[0][k];
      }
    } else {
      reduced.locate(elements, at);
    }
    for (int m = 0; m < M; ++m) {
      for (int k = 0; k < N; ++k) at[m][k] += reduced.data[k] - self;
    }
  }
  // From the index of an element of a piece to the next.
  KEYWAY_HD std::int64_t index_step() const { return reduced.strides[0][1]; }

  std::uint32_t blocks() const { return (kept.numel - 1) / teams.per_block() + 1; }
};

// Merges the units of each output: a team for each.
struct FinishLaunch {
  LaunchSpace kept;
  Teams teams;
  std::uint32_t units;
  std::int64_t count;
  const char* partial;

  std::uint32_t blocks() const { return (kept.numel - 1) / teams.per_block() + 1; }
};

// The launches for outputs that a kernel takes at once: one for each part of the elements. Their partial is null, to be
// set where units_of() is not one.
std::vector<ReductionLaunch> reduction_launches(const IterationSpace& kept, const IterationSpace& reduced,
                                                std::int64_t itemsize);
std::uint32_t units_of(const std::vector<ReductionLaunch>& launches);
// Its partial is null where there are no units.
FinishLaunch finish_launch(const LaunchSpace& kept, std::uint32_t units, std::int64_t count, const char* partial);

// The dimensions of a reduction's space along which results move, and the others; the operands of these are kSelf and
// kIndex.
void split_space(const IterationSpace& space, IterationSpace& kept, IterationSpace& reduced);

}  // namespace keyway::inline v1::cuda
