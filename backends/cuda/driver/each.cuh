// each: the driver of kernels that go from element to element of some space and find others from there.
//
//   each<3>(ElementSpace(index.sizes()).tensor(out).tensor(index).line(self, dim).space(), Gather<float>{...},
//   out.device());
//
// calls functor(const Element<3>&) for each element. A functor that has a `kElementError` returns whether it accepts
// the element; one that it does not is an error of the next synchronisation, as in pointwise. Elements come in no
// order: no two may write to one location. Requires: the space has elements; all operands lie on `on`.
#pragma once

#include <keyway/backends/cuda/driver/each.h>
#include <keyway/backends/cuda/driver/kernel_address.h>
#include <keyway/backends/cuda/driver/pointwise.h>
#include <keyway/backends/cuda/element_space.h>

namespace keyway::inline v1::cuda {

namespace detail {

template <int N, typename F>
__global__ void __launch_bounds__(kThreads)
    visit_elements(const __grid_constant__ F functor, const __grid_constant__ LaunchSpace space,
                   const char* const origin, const __grid_constant__ DeviceAssertTarget note) {
  const std::uint32_t first = blockIdx.x * (kThreads * kElementsPerThread) + threadIdx.x;
  for (unsigned j = 0; j < kElementsPerThread; ++j) {
    const std::uint32_t i = first + j * kThreads;
    if (i >= space.numel) return;
    const Element<N> element(space, origin, i);
    if constexpr (kElementErrorOf<F> != nullptr) {
      if (!functor(element)) *note.slot = note.what;
    } else {
      functor(element);
    }
  }
}

}  // namespace detail

template <int N, typename F>
void each(const IterationSpace& space, const F& functor, Device on) {
  launch_each(kernel_address(&detail::visit_elements<N, F>), &functor, kElementErrorOf<F>, space, on);
}

}  // namespace keyway::inline v1::cuda
