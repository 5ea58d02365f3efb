// Conversion between all pairs of dtypes: a kernel for each that is written, in which every thread of a launch asks the
// same question, what is read. A kernel for each pair would be some hundred.
#include <keyway/backends/cuda/driver/device_guard.h>
#include <keyway/backends/cuda/driver/element.cuh>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/driver/pointwise.h>
#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/copy.h>

namespace keyway::inline v1::cuda {

namespace {

template <typename To>
struct ConvertElement {
  char* to;
  const char* from;

  template <typename From>
  __device__ void operator()() const {
    detail::store<To>(to, Cast<To, From>{}(detail::load<From>(from)));
  }
};

template <typename To>
__global__ void __launch_bounds__(kThreads)
    convert(const __grid_constant__ LaunchSpace space, const __grid_constant__ ScalarType from) {
  const std::uint32_t first = blockIdx.x * (kThreads * kElementsPerThread) + threadIdx.x;
#pragma unroll 1
  for (unsigned j = 0; j < kElementsPerThread; ++j) {
    const std::uint32_t i = first + j * kThreads;
    if (i >= space.numel) return;
    char* at[2];
    space.find(i, at);
    const ConvertElement<To> one{at[0], at[1]};
    keyway::detail::visit_in<kAnyTypes>(from, one);
  }
}

}  // namespace

void convert_elements(const TensorBase& src, const TensorBase& dst) {
  if (dst.numel() == 0) return;
  const cudaStream_t stream = runtime_stream(cuda_device_guard().get_stream(dst.device()));
  const TensorBase* const operands[] = {&dst, &src};
  Strided space;
  make_strided(space, dst.sizes(), operands, 2);
  if (!kAnyTypes.contains(src.dtype())) keyway::detail::fail_dtype(src.dtype(), kAnyTypes, "copy_");
  visit_any(dst.dtype(), "copy_", [&]<typename To>() {
    for_each_part(space, [&](const Strided& part) {
      const LaunchSpace elements = launch_space(part);
      launch(&convert<To>, blocks_for(elements.numel, kThreads * kElementsPerThread), kThreads, stream, elements,
             src.dtype());
    });
  });
}

}  // namespace keyway::inline v1::cuda
