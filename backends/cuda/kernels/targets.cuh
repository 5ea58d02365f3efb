// Targets: where writes go that indices name, several of which may go to one place. Which of them counts, and in which
// order sums are made, is what it is on the CPU: that of the writes. So they are put into the order of their targets;
// those that go to one are neighbours then, a run, in their own order. A thread has all of a run, or all of one column
// of its rows, and nobody else writes there. Internal to backends/cuda.
//
// A run is read by one thread, as fast as that goes: its length is found first, so that its elements are on their way
// together, and only the sums wait for each other.
#pragma once

#include <keyway/backends/cuda/kernels/order.h>
#include <keyway/backends/cuda/places.h>
#include <keyway/core/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// Writes in the order of their targets, in a kernel.
struct TargetRuns {
  const std::int64_t* offsets;  // of each write, as they were given; below 0 if it is not done
  const std::int64_t* order;    // which write stands here
  std::int64_t n;

  KEYWAY_HD std::int64_t target(std::int64_t i) const { return offsets[order[i]]; }
  // Whether a write is done, and is the first or last of its run.
  KEYWAY_HD bool begins(std::int64_t i) const {
    const std::int64_t here = target(i);
    return here >= 0 && (i == 0 || target(i - 1) != here);
  }
  KEYWAY_HD bool ends(std::int64_t i) const {
    const std::int64_t here = target(i);
    return here >= 0 && (i + 1 == n || target(i + 1) != here);
  }
  // The end of the run that begins there: in steps that double, and then half by half.
  KEYWAY_HD std::int64_t end_of(std::int64_t first) const {
    const std::int64_t here = target(first);
    std::int64_t inside = first, step = 1;
    while (inside + step < n && target(inside + step) == here) {
      inside += step;
      step *= 2;
    }
    std::int64_t outside = inside + step < n ? inside + step : n;
    while (outside - inside > 1) {
      const std::int64_t middle = inside + (outside - inside) / 2;
      (target(middle) == here ? inside : outside) = middle;
    }
    return outside;
  }
};

class Targets {
 public:
  // `offsets` is a row-major int64 tensor of at least one element.
  explicit Targets(const TensorBase& offsets) : offsets_(offsets), order_(stable_order(offsets)) {}

  TargetRuns runs() const {
    return {static_cast<const std::int64_t*>(offsets_.data_ptr()), static_cast<const std::int64_t*>(order_.data_ptr()),
            offsets_.numel()};
  }

 private:
  TensorBase offsets_, order_;
};

// Functors for each(). Operands: the table's block at offset 0, the block of the first row, the write's number in the
// order of targets. `row_step` is how far a row is from the next, in bytes.

// Of a run the last one counts.
template <typename T>
struct WriteLast {
  TargetRuns runs;
  std::int64_t row_step;

  KEYWAY_HD void operator()(const Place<3>& place) const {
    const std::int64_t i = place.number(2);
    if (!runs.ends(i)) return;
    *reinterpret_cast<T*>(place.address(0) + runs.target(i)) =
        *reinterpret_cast<const T*>(place.address(1) + runs.order[i] * row_step);
  }
};

// f.begin(element of the table), f.add(..., element) for each of the run in order, f.end(..., how many they were).
template <typename T, typename F>
struct FoldRun {
  TargetRuns runs;
  std::int64_t row_step;
  F f;

  __device__ void operator()(const Place<3>& place) const {
    const std::int64_t first = place.number(2);
    if (!runs.begins(first)) return;
    const std::int64_t end = runs.end_of(first);
    T& target = *reinterpret_cast<T*>(place.address(0) + runs.target(first));
    auto all = f.begin(target);
#pragma unroll 4
    for (std::int64_t i = first; i < end; ++i) {
      all = f.add(all, *reinterpret_cast<const T*>(place.address(1) + runs.order[i] * row_step));
    }
    target = f.end(all, end - first);
  }
};

}  // namespace keyway::inline v1::cuda
