// reduce: the driver of every reduction, over any set of dimensions. It is spelled as the CPU's is, over the same
// functors (backends/cpu/reduction.h, ops/functors/reduction.h).
//
//   reduce(Sum<float>{}, out, self, dims);
//
// Neighbours along the innermost of the reduced dimensions are read 16 bytes at a time, where they lie together.
//
// Order and error. A thread has four accumulators or more, which take turns at its elements; they are merged pairwise,
// and so are the threads of an output. Of its units each of a team's threads merges some in order, and the threads
// pairwise. So a sum of n floats differs from the exact one by at most about (n / (1024 units) + units / 8 + 32) eps
// times the sum of magnitudes. Which thread has which elements depends on shape, strides and dtype alone
// (reduction_launch.h): the same call gives the same bits.
#pragma once

#include <keyway/backends/cuda/driver/element.cuh>
#include <keyway/backends/cuda/driver/kernel_address.h>
#include <keyway/backends/cuda/driver/reduction.h>
#include <keyway/backends/cuda/driver/team.cuh>
#include <keyway/ops/functors/forms.h>
#include <keyway/ops/functors/reduction.h>

namespace keyway::inline v1::cuda {

namespace detail {

using keyway::detail::kSelf;

template <typename R>
__device__ void write_result(char* first, char*, R result) {
  store<R>(first, result);
}
template <typename A, typename B>
__device__ void write_result(char* first, char* second, Two<A, B> result) {
  store<A>(first, result.first);
  store<B>(second, result.second);
}

template <typename F>
__device__ void write_output(const F& functor, const LaunchSpace& kept, std::uint32_t output, typename F::Acc acc,
                             std::int64_t count) {
  std::int64_t offset[3];
  kept.locate(output, offset);
  write_result(kept.data[1] + offset[1], kept.data[2] + offset[2], functor.project(acc, count));
}

// The items of a unit that are a thread's.
template <typename F>
class ThreadReduction {
 public:
  using Acc = typename F::Acc;

  // `base`: the first element of the output.
  __device__ ThreadReduction(const F& functor, const ReductionLaunch& launch, const char* base)
      : functor_(functor), launch_(launch), base_(base) {
#pragma unroll
    for (int j = 0; j < kAccs; ++j) acc_.of[j] = functor.identity();
  }

  // Items begin, begin + teams.size, ... No sum of indices passes 2^32: end is less than 2^31, and a turn's items are
  // at most 2^11 apart.
  __device__ Acc of(std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t step = launch_.teams.size;
    std::uint32_t i = begin;
    if constexpr (kWidth > 1) {
      if (launch_.width > 1) {
        const std::uint32_t all_whole = launch_.reduced.numel / kWidth;
        const std::uint32_t whole = end < all_whole ? end : all_whole;
        if (launch_.aligned) {
          for (; i + (kPieces - 1) * step < whole; i += kPieces * step) pieces<kPieces>(i, step);
          for (; i < whole; i += step) pieces<1>(i, step);
        }
        for (; i < whole; i += step) piece_by_elements(i);
        if (i < end) rest();
        return merged();
      }
    }
    for (; i + (kSingles - 1) * step < end; i += kSingles * step) singles<kSingles>(i, step);
    for (; i < end; i += step) singles<1>(i, step);
    return merged();
  }

 private:
  using Element = typename F::Element;
  static constexpr int kWidth = piece_width(sizeof(Element));
  // What a thread reads before it waits: some 32 to 64 bytes, so that enough is on its way.
  static constexpr int kPieces = 4;
  static constexpr int kSingles = sizeof(Element) < 8 ? 8 : 4;
  static constexpr int kAccs = kWidth < 4 ? 4 : kWidth;
  // What is located: elements, and their indices where the functor asks for them.
  static constexpr bool kIndexed = requires { F::kIndexed; };
  static constexpr int kLocated = kIndexed ? 2 : 1;

  __device__ void take(int turn, Element x, std::int64_t index) {
    acc_.of[turn % kAccs] = functor_.combine(acc_.of[turn % kAccs], x, index);
  }
  // Of element j of what is located.
  __device__ std::int64_t index_of(const std::int64_t (&at)[kLocated], int j) const {
    return kIndexed ? at[kLocated - 1] + (j == 0 ? 0 : j * launch_.index_step()) : 0;
  }

  template <int M>
  __device__ void singles(std::uint32_t first, std::uint32_t step) {
    std::uint32_t i[M];
    std::int64_t at[M][kLocated];
    Some<Element, M> x;
#pragma unroll
    for (int m = 0; m < M; ++m) i[m] = first + m * step;
    launch_.locate(i, at);
#pragma unroll
    for (int m = 0; m < M; ++m) x.of[m] = load<Element>(base_ + at[m][0]);
#pragma unroll
    for (int m = 0; m < M; ++m) take(m, x.of[m], index_of(at[m], 0));
  }

  // The elements of a piece take their own accumulators, however they are read.
  template <int M>
  __device__ void pieces(std::uint32_t first, std::uint32_t step) {
    using Piece = Vector<Element, kWidth>;
    std::uint32_t i[M];
    std::int64_t at[M][kLocated];
    Some<Piece, M> x;
#pragma unroll
    for (int m = 0; m < M; ++m) i[m] = (first + m * step) * kWidth;
    launch_.locate(i, at);
#pragma unroll
    for (int m = 0; m < M; ++m) x.of[m] = *reinterpret_cast<const Piece*>(base_ + at[m][0]);
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) take(j, static_cast<Element>(x.of[m].of[j]), index_of(at[m], j));
    }
  }
  __device__ void piece_by_elements(std::uint32_t piece) {
    std::int64_t at[1][kLocated];
    Some<Element, kWidth> x;
    launch_.locate({piece * kWidth}, at);
    const char* const first = base_ + at[0][0];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) x.of[j] = load<Element>(first + j * sizeof(Element));
#pragma unroll
    for (int j = 0; j < kWidth; ++j) take(j, x.of[j], index_of(at[0], j));
  }
  // The last piece, which is not whole.
  __device__ void rest() {
    for (std::uint32_t i = launch_.reduced.numel / kWidth * kWidth; i < launch_.reduced.numel; ++i) singles<1>(i, 0);
  }

  template <int half = kAccs / 2>
  __device__ Acc merged() {
    if constexpr (half == 0) {
      return acc_.of[0];
    } else {
#pragma unroll
      for (int j = 0; j < half; ++j) acc_.of[j] = functor_.merge(acc_.of[j], acc_.of[j + half]);
      return merged<half / 2>();
    }
  }

  const F& functor_;
  const ReductionLaunch& launch_;
  const char* base_;
  Some<Acc, kAccs> acc_;
};

template <typename F>
__global__ void __launch_bounds__(kTeamThreads)
    reduce_units(const __grid_constant__ F functor, const __grid_constant__ ReductionLaunch launch) {
  using Acc = typename F::Acc;
  const auto [output, rank] = launch.teams.member(blockIdx.x, threadIdx.x);
  const bool active = output < launch.kept.numel;
  Acc acc = functor.identity();
  if (active) {
    std::int64_t offset[1];
    launch.kept.locate(output, offset);
    ThreadReduction<F> mine(functor, launch, launch.kept.data[kSelf] + offset[0]);
    acc = mine.of(launch.unit_begin(blockIdx.y) + rank, launch.unit_end(blockIdx.y));
  }
  const auto merge = [&](const Acc& a, const Acc& b) { return functor.merge(a, b); };
  acc = merge_teams(launch.teams, rank, acc, merge);
  if (!active || rank != 0) return;
  if (launch.partial == nullptr) return write_output(functor, launch.kept, output, acc, launch.count);
  const std::uint64_t unit = launch.first_unit + blockIdx.y;
  reinterpret_cast<Acc*>(launch.partial)[unit * launch.kept.numel + output] = acc;
}

template <typename F>
__global__ void __launch_bounds__(kTeamThreads)
    reduce_finish(const __grid_constant__ F functor, const __grid_constant__ FinishLaunch launch) {
  using Acc = typename F::Acc;
  const auto [output, rank] = launch.teams.member(blockIdx.x, threadIdx.x);
  const bool active = output < launch.kept.numel;
  Acc acc = functor.identity();
  const auto* const partial = reinterpret_cast<const Acc*>(launch.partial);
  // Several are read before one is merged, so that a thread waits once for them.
  constexpr int kAhead = sizeof(Acc) > 8 ? 2 : 8;
  for (std::uint32_t first = rank; active && first < launch.units; first += kAhead * launch.teams.size) {
    Some<Acc, kAhead> read;
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const std::uint32_t unit = first + j * launch.teams.size;
      if (unit < launch.units) read.of[j] = partial[std::uint64_t{unit} * launch.kept.numel + output];
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (first + j * launch.teams.size < launch.units) acc = functor.merge(acc, read.of[j]);
    }
  }
  const auto merge = [&](const Acc& a, const Acc& b) { return functor.merge(a, b); };
  acc = merge_teams(launch.teams, rank, acc, merge);
  if (active && rank == 0) write_output(functor, launch.kept, output, acc, launch.count);
}

template <typename F>
void reduce_chosen(const F& functor, const TensorBase& out, const TensorBase* second, const TensorBase& self,
                   IntArrayRef dims) {
  if constexpr (HasForms<F>) {
    functor.choose([&](const auto& form) { reduce_chosen(form, out, second, self, dims); });
  } else {
    constexpr bool indexed = requires { F::kIndexed; };
    const ReductionKernels kernels{kernel_address(&reduce_units<F>), kernel_address(&reduce_finish<F>),
                                   sizeof(typename F::Acc), sizeof(typename F::Element), indexed};
    launch_reduction(kernels, &functor, out, second, self, dims);
  }
}

}  // namespace detail

// Reduces `self` over `dims`, all dimensions if the list is empty. Requires: as the CPU's reduce.
template <typename F>
void reduce(const F& functor, const TensorBase& out, const TensorBase& self, IntArrayRef dims) {
  detail::reduce_chosen(functor, out, nullptr, self, dims);
}
// With two results, of equal sizes.
template <typename F>
void reduce(const F& functor, const TensorBase& first, const TensorBase& second, const TensorBase& self,
            IntArrayRef dims) {
  detail::reduce_chosen(functor, first, &second, self, dims);
}

}  // namespace keyway::inline v1::cuda
