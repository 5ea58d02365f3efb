// How a reduction is shared out among the threads of a device. It depends on shape and strides alone, so that results
// are the same to the last bit on every device, each time.
#pragma once

#include <keyway/backends/cuda/launch_space.h>
#include <keyway/backends/cuda/teams.h>
#include <keyway/core/reduction_space.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::cuda {

// A launch of blocks of kTeamThreads threads. Block (x, y) has the y-th unit of some outputs; a team goes through the
// elements of each: the thread of rank r has elements r, r + teams.size, ... of the unit.
struct ReductionLaunch {
  LaunchSpace kept;            // of outputs; operands kSelf, kOut and kSecond
  LaunchSpace reduced;         // of the elements of each; operands kSelf and kIndex, as data[0] and data[1]
  const char* self = nullptr;  // what data of kSelf count from, and indices, a byte for one
  std::uint32_t unit = 0;      // elements
  std::uint32_t units = 0;
  std::uint32_t first_unit = 0;  // the place of the launch's units among all
  Teams teams;                   // of outputs
  std::int64_t count = 0;        // elements of an output in all launches
  char* partial = nullptr;  // accumulators, those of the units of an output `kept.numel` apart; null: there is one unit

  // The first element of a unit, and the end of it.
  KEYWAY_HD std::uint32_t unit_begin(std::uint32_t number) const { return number * unit; }
  KEYWAY_HD std::uint32_t unit_end(std::uint32_t number) const {
    const std::uint32_t end = (number + 1) * unit;
    return end < reduced.numel ? end : reduced.numel;
  }

  // How far an element is from the first of its output, in bytes, and its index.
  struct Element {
    std::int64_t offset, index;
  };
  KEYWAY_HD Element element(std::uint32_t i) const {
    std::int64_t offset[2];
    reduced.locate(i, offset);
    return {reduced.data[0] - self + offset[0], reduced.data[1] - self + offset[1]};
  }

  std::uint32_t blocks() const { return (kept.numel - 1) / teams.per_block() + 1; }
};

// Merges the units of each output, in order. A thread for each.
struct FinishLaunch {
  LaunchSpace kept;
  std::uint32_t units;
  std::int64_t count;
  const char* partial;
};

// The launches for outputs that a kernel takes at once: one for each part of the elements. Their partial is null, to be
// set where units_of() is not one.
std::vector<ReductionLaunch> reduction_launches(const Strided& kept, const Strided& reduced);
std::uint32_t units_of(const std::vector<ReductionLaunch>& launches);

// The dimensions of a reduction's space along which results move, and the others; the operands of these are kSelf and
// kIndex.
void split_space(const Strided& space, Strided& kept, Strided& reduced);

}  // namespace keyway::inline v1::cuda
