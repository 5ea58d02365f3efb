// The kernel of CUDA that my_ops.json asks for.
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/driver/runtime_stream.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <myops/backends/cuda/kernels/kernels_my_ops.h>

namespace {

template <typename T>
__global__ void reverse(const T* from, T* to, std::int64_t count, std::int64_t from_step, std::int64_t to_step) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) to[(count - 1 - i) * to_step] = from[i * from_step];
}

}  // namespace

void myops::cuda::reversed(const TensorBase& self, TensorBase& out) {
  const std::int64_t count = self.numel();
  if (count == 0) return;
  const cudaStream_t stream = keyway::cuda::runtime_stream(keyway::current_stream(out.device()));
  constexpr unsigned kThreads = 256;
  const unsigned blocks = keyway::cuda::blocks_for(static_cast<std::uint32_t>(count), kThreads);
  keyway::visit_dtype<keyway::kFloatingTypes>(self.dtype(), "reversed", [&]<typename T>() {
    keyway::cuda::launch(&reverse<T>, blocks, kThreads, stream, self.data_ptr<T>(), out.data_ptr<T>(), count,
                         self.strides()[0], out.strides()[0]);
  });
}
