// How a reduction is shared out among the threads of a device. It depends on shape and strides alone, so that results
// are the same to the last bit on every device, each time.
#pragma once

#include <keyway/backends/cuda/launch_space.h>
#include <keyway/core/reduction_space.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::cuda {

inline constexpr unsigned kReductionThreads = 256;

// A launch of blocks of kReductionThreads threads. Block (x, y) has the y-th unit of some outputs; as many threads,
// `reducers`, go through the elements of each: thread r has elements r, r + reducers, ... of the unit.
struct ReductionLaunch {
  LaunchSpace kept;            // of outputs; operands kSelf, kOut and kSecond
  LaunchSpace reduced;         // of the elements of each; operands kSelf and kIndex, as data[0] and data[1]
  const char* self = nullptr;  // what data of kSelf count from, and indices, a byte for one
  std::uint32_t unit = 0;      // elements
  std::uint32_t units = 0;
  std::uint32_t first_unit = 0;  // the place of the launch's units among all
  std::uint32_t reducers = 0;    // a power of two, at most kReductionThreads
  bool columns = false;          // neighbouring threads have neighbouring outputs, not neighbouring elements
  std::int64_t count = 0;        // elements of an output in all launches
  char* partial = nullptr;  // accumulators, those of the units of an output `kept.numel` apart; null: there is one unit

  // What a thread has to do: to be one of the reducers of an output. There may be no such output.
  struct Place {
    std::uint32_t output, reducer;
  };
  KEYWAY_HD Place place(std::uint32_t block, std::uint32_t thread) const {
    const std::uint32_t outputs = outputs_per_block();
    const std::uint32_t mine = columns ? thread % outputs : thread / reducers;
    return {block * outputs + mine, columns ? thread / outputs : thread % reducers};
  }
  // Threads of one output, this far apart, are reducers one after the other.
  KEYWAY_HD std::uint32_t reducer_step() const { return columns ? outputs_per_block() : 1; }

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

  KEYWAY_HD std::uint32_t outputs_per_block() const { return kReductionThreads / reducers; }
  std::uint32_t blocks() const { return (kept.numel - 1) / outputs_per_block() + 1; }
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
