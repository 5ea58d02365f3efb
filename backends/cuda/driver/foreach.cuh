// over_lists: the driver of kernels that go through several lists of tensors side by side (ops/functors/optimizer.h),
// in as few launches as their tables take: 64 tensors each.
//
//   over_lists(FusedSgd<float>(settings, scaling), lists, {});
#pragma once

#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/foreach_table.h>

#include <utility>

namespace keyway::inline v1::cuda {

namespace detail {

template <typename F, std::size_t... l>
__device__ void change_elements(const F& functor, const typename F::Prepared& prepared,
                                typename F::Element (&x)[F::kLists], std::index_sequence<l...>) {
  functor(prepared, x[l]...);
}

template <typename F>
__global__ void __launch_bounds__(kForeachThreads)
    visit_lists(const __grid_constant__ F functor, const __grid_constant__ ForeachTable table) {
  using T = typename F::Element;
  if (functor.skips()) return;
  const std::uint32_t tensor = table.tensor_of(blockIdx.x);
  __shared__ typename F::Prepared prepared;
  if (threadIdx.x == 0) prepared = functor.prepare(table.step[tensor]);
  __syncthreads();
  const std::int64_t begin = std::int64_t{blockIdx.x - table.first_block[tensor]} * kForeachChunk + threadIdx.x;
  for (unsigned round = 0; round < kForeachRounds; ++round) {
    const std::int64_t first = begin + std::int64_t{round} * kForeachElements * kForeachThreads;
    // All are loaded before any is stored, so that the loads are under way together.
    T x[kForeachElements][F::kLists];
#pragma unroll
    for (unsigned j = 0; j < kForeachElements; ++j) {
      const std::int64_t i = first + j * kForeachThreads;
#pragma unroll
      for (int l = 0; l < F::kLists; ++l) {
        const T* const data = reinterpret_cast<const T*>(table.data[l][tensor]);
        x[j][l] = i < table.numel[tensor] && data != nullptr ? data[i] : T();
      }
    }
#pragma unroll
    for (unsigned j = 0; j < kForeachElements; ++j) {
      const std::int64_t i = first + j * kForeachThreads;
      if (i >= table.numel[tensor]) return;
      change_elements(functor, prepared, x[j], std::make_index_sequence<F::kLists>());
#pragma unroll
      for (int l = 0; l < F::kLists; ++l) {
        if ((table.written >> l & 1) != 0) reinterpret_cast<T*>(table.data[l][tensor])[i] = x[j][l];
      }
    }
  }
}

}  // namespace detail

// `steps`: a number for each tensor, or none. Requires: the lists are F's, of its Element, on the current device.
template <typename F>
void over_lists(const F& functor, const ForeachLists& lists, ArrayRef<TensorBase> steps) {
  static_assert(F::kLists <= kForeachLists && sizeof(F) + sizeof(ForeachTable) <= 4096, "parameters of a kernel");
  const cudaStream_t stream = runtime_stream(cuda_device_guard().get_stream(lists.device()));
  for_each_table(lists, F::kLists, steps, [&](const ForeachTable& table) {
    launch(&detail::visit_lists<F>, table.blocks(), kForeachThreads, stream, functor, table);
  });
  lists.finish();
}

}  // namespace keyway::inline v1::cuda
