// Targets: where writes go that indices name, several of which may go to one location. Which of them counts, and in
// which order sums are made, is what it is on the CPU: that of the writes. So they are put into the order of their
// targets; those that go to one are neighbours then, a run, in their own order. A thread has all of a run, or all of
// one column of its rows, and nobody else writes there. Internal to backends/cuda.
//
// A run is read by one thread, as fast as that goes: its length is found first, so that its elements are on their way
// together, and only the sums wait for each other. Of a run of more than kSegment each further segment of so many has a
// thread of its own, and the first one's adds what these found, in order. So the bits of a result depend on the order
// of the writes that go there alone, and those of a shorter run are the CPU's.
#pragma once

#include <keyway/backends/cuda/element_space.h>
#include <keyway/backends/cuda/kernels/order.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>
#include <utility>

namespace keyway::inline v1::cuda {

inline constexpr std::int64_t kSegment = 1024;

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
  KEYWAY_HD std::int64_t begin_of(std::int64_t i) const { return i + 1 - neighbours(i, -1); }
  KEYWAY_HD std::int64_t end_of(std::int64_t i) const { return i + neighbours(i, 1); }

  // Writes from `first` up to but without `end`.
  struct Segment {
    std::int64_t first, end;
  };
  // The segment that begins among the kSegment writes from i on, of the run that i is in, unless it is the run's first
  // one. Of each run every other segment is found from one multiple of kSegment, and those of neighbouring segments
  // are neighbours. There may be none.
  KEYWAY_HD Segment segment_from(std::int64_t i) const {
    const std::int64_t here = target(i);
    if (here < 0) return {i, i};
    const std::int64_t begin = begin_of(i), first = begin + (i - begin + kSegment - 1) / kSegment * kSegment;
    if (first == begin || first >= n || target(first) != here) return {i, i};
    const std::int64_t end = first + kSegment;
    return {first, end <= n && target(end - 1) == here ? end : end_of(first)};
  }

 private:
  // How many in a row go where write `from` does, which is one of them: in steps that double, and then half by half.
  KEYWAY_HD std::int64_t neighbours(std::int64_t from, std::int64_t direction) const {
    const std::int64_t here = target(from), room = direction > 0 ? n - from : from + 1;
    std::int64_t inside = 0, step = 1;
    while (inside + step < room && target(from + direction * (inside + step)) == here) {
      inside += step;
      step *= 2;
    }
    std::int64_t outside = inside + step < room ? inside + step : room;
    while (outside - inside > 1) {
      const std::int64_t middle = inside + (outside - inside) / 2;
      (target(from + direction * middle) == here ? inside : outside) = middle;
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

  KEYWAY_HD void operator()(const Element<3>& element) const {
    const std::int64_t i = element.number(2);
    if (!runs.ends(i)) return;
    *reinterpret_cast<T*>(element.address(0) + runs.target(i)) =
        *reinterpret_cast<const T*>(element.address(1) + runs.order[i] * row_step);
  }
};

// How elements that go to one location become one, in an accumulation's type:
//   f.begin(element of the table), f.none() of nothing;
//   f.add(..., element), in order; f.merge(..., ...) of two neighbouring segments;
//   f.end(..., how many they were).
template <typename T, typename F>
struct Folded {
  using Acc = decltype(std::declval<const F&>().begin(T()));
  TargetRuns runs;
  std::int64_t row_step;
  F f;

  __device__ Acc add(Acc all, TargetRuns::Segment part, const char* rows) const {
#pragma unroll 4
    for (std::int64_t i = part.first; i < part.end; ++i) {
      all = f.add(all, *reinterpret_cast<const T*>(rows + runs.order[i] * row_step));
    }
    return all;
  }
};

// What the segments of long runs come to. Operands: the result, the block of the first row, how many multiples of
// kSegment come before the one that the segment is found from.
template <typename T, typename F>
struct FoldSegment {
  Folded<T, F> folded;

  __device__ void operator()(const Element<3>& element) const {
    const TargetRuns::Segment segment = folded.runs.segment_from(element.number(2) * kSegment);
    if (segment.first == segment.end) return;
    element.at<typename Folded<T, F>::Acc>(0) = folded.add(folded.f.none(), segment, element.address(1));
  }
};

// One more operand: what the first of all segments came to, those of the others of the block being `segment_step` bytes
// apart. Nobody looks there if no run is long.
template <typename T, typename F>
struct FoldRun {
  using Acc = typename Folded<T, F>::Acc;
  Folded<T, F> folded;
  std::int64_t segment_step;

  __device__ void operator()(const Element<4>& element) const {
    const TargetRuns& runs = folded.runs;
    const F& f = folded.f;
    const std::int64_t first = element.number(2);
    if (!runs.begins(first)) return;
    const std::int64_t end = runs.end_of(first), further = (end - first - 1) / kSegment;
    T& target = *reinterpret_cast<T*>(element.address(0) + runs.target(first));
    Acc all = folded.add(f.begin(target), {first, further > 0 ? first + kSegment : end}, element.address(1));
    const char* const segments = element.address(3) + first / kSegment * segment_step;
#pragma unroll 4
    for (std::int64_t i = 1; i <= further; ++i) {
      all = f.merge(all, *reinterpret_cast<const Acc*>(segments + i * segment_step));
    }
    target = f.end(all, end - first);
  }
};

}  // namespace keyway::inline v1::cuda
