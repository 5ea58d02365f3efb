#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/driver/pointwise.h>
#include <keyway/backends/cuda/driver/runtime_stream.h>

namespace keyway::inline v1::cuda {

void launch_pointwise(const PointwiseKernels& kernels, const void* functor, const TensorBase* const* operands) {
  if (operands[0]->numel() == 0) return;
  const Stream current = current_stream(operands[0]->device());
  const cudaStream_t stream = runtime_stream(current);
  const DeviceAssertTarget note = device_assert_target(kernels.assertion, current);
  IterationSpace space;
  make_iteration_space(space, operands[0]->sizes(), operands, kernels.operands);
  for_each_part(space, [&](const IterationSpace& part) {
    if (const auto vectors = vector_space(part, kernels.itemsize, kernels.width)) {
      const void* const arguments[] = {functor, &*vectors, &note};
      return launch_with(kernels.vectors, blocks_for(vectors->vectors, kThreads), kThreads, stream, arguments);
    }
    const LaunchSpace elements = launch_space(part);
    const void* const arguments[] = {functor, &elements, &note};
    launch_with(kernels.elements, blocks_for(elements.numel, kThreads * kElementsPerThread), kThreads, stream,
                arguments);
  });
}

}  // namespace keyway::inline v1::cuda
