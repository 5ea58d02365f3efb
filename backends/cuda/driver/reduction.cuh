// reduce: the driver of every reduction, over any set of dimensions. It is spelled as the CPU's is, over the same
// functors (backends/cpu/reduction.h, ops/functors/reduction.h).
//
//   reduce(Sum<float>{}, out, self, dims);
//
// Order and error. A thread has four accumulators, which take turns at its elements; then they are merged, the threads
// of an output pairwise, and last its units in order. So a sum of n floats differs from the exact one by at most about
// (n / (1024 units) + 24 + units) eps times the sum of magnitudes. Which thread has which elements depends on shape and
// strides alone (reduction_launch.h): the same call gives the same bits.
#pragma once

#include <keyway/backends/cuda/driver/element.cuh>
#include <keyway/backends/cuda/driver/kernel_address.h>
#include <keyway/backends/cuda/driver/reduction.h>
#include <keyway/backends/cuda/driver/team.cuh>
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

// The elements of a unit that are a thread's.
template <typename F>
__device__ typename F::Acc reduce_thread(const F& functor, const ReductionLaunch& launch, const char* base,
                                         std::uint32_t begin, std::uint32_t end) {
  using Acc = typename F::Acc;
  constexpr int kTurns = 4;
  const auto combine = [&](Acc acc, std::uint32_t i) {
    const ReductionLaunch::Element element = launch.element(i);
    return functor.combine(acc, load<typename F::Element>(base + element.offset), element.index);
  };
  Acc acc[kTurns] = {functor.identity(), functor.identity(), functor.identity(), functor.identity()};
  const std::uint32_t step = launch.teams.size;
  std::uint32_t i = begin;
  // No sum of indices passes 2^32: end is less than 2^31, and kTurns * step at most 2^10.
  for (; i + (kTurns - 1) * step < end; i += kTurns * step) {
#pragma unroll
    for (int j = 0; j < kTurns; ++j) acc[j] = combine(acc[j], i + j * step);
  }
  for (; i < end; i += step) acc[0] = combine(acc[0], i);
  return functor.merge(functor.merge(acc[0], acc[1]), functor.merge(acc[2], acc[3]));
}

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
    acc = reduce_thread(functor, launch, launch.kept.data[kSelf] + offset[0], launch.unit_begin(blockIdx.y) + rank,
                        launch.unit_end(blockIdx.y));
  }
  const auto merge = [&](const Acc& a, const Acc& b) { return functor.merge(a, b); };
  acc = merge_teams(launch.teams, rank, acc, merge)[threadIdx.x];
  if (!active || rank != 0) return;
  if (launch.partial == nullptr) return write_output(functor, launch.kept, output, acc, launch.count);
  const std::uint64_t unit = launch.first_unit + blockIdx.y;
  reinterpret_cast<Acc*>(launch.partial)[unit * launch.kept.numel + output] = acc;
}

template <typename F>
__global__ void __launch_bounds__(kTeamThreads)
    reduce_finish(const __grid_constant__ F functor, const __grid_constant__ FinishLaunch launch) {
  const std::uint32_t output = blockIdx.x * kTeamThreads + threadIdx.x;
  if (output >= launch.kept.numel) return;
  typename F::Acc acc = functor.identity();
  const auto* const partial = reinterpret_cast<const typename F::Acc*>(launch.partial);
  for (std::uint64_t unit = 0; unit < launch.units; ++unit) {
    acc = functor.merge(acc, partial[unit * launch.kept.numel + output]);
  }
  write_output(functor, launch.kept, output, acc, launch.count);
}

template <typename F>
void reduce_chosen(const F& functor, const TensorBase& out, const TensorBase* second, const TensorBase& self,
                   IntArrayRef dims) {
  if constexpr (requires { functor.choose([](const auto&) {}); }) {
    functor.choose([&](const auto& form) { reduce_chosen(form, out, second, self, dims); });
  } else {
    constexpr bool indexed = requires { F::kIndexed; };
    const ReductionKernels kernels{kernel_address(&reduce_units<F>), kernel_address(&reduce_finish<F>),
                                   sizeof(typename F::Acc), indexed};
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
