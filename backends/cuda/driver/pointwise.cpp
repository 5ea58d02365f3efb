#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/device_guard.h>
#include <keyway/backends/cuda/driver/named_kernel.h>
#include <keyway/backends/cuda/driver/pointwise.h>

namespace keyway::inline v1::cuda {

namespace {

template <typename Space>
void launch(const void* kernel, const void* functor, const Space& space, const RefusalNote& note, std::uint32_t items,
            unsigned per_block, cudaStream_t stream) {
  void* arguments[] = {const_cast<void*>(functor), const_cast<Space*>(&space), const_cast<RefusalNote*>(&note)};
  KEYWAY_CUDA_CHECK(cudaLaunchKernel(kernel, dim3((items - 1) / per_block + 1), dim3(kThreads), arguments, 0, stream));
}

}  // namespace

void launch_pointwise(const PointwiseKernels& kernels, const void* functor, const TensorBase* const* operands) {
  if (operands[0]->numel() == 0) return;
  const Stream current = cuda_device_guard().get_stream(operands[0]->device());
  const cudaStream_t stream = runtime_stream(current);
  RefusalNote note;
  if (kernels.refusal != nullptr) note = {refusal(RunningOp::name(), kernels.refusal), refusal_slot(current)};
  Strided space;
  make_strided(space, operands[0]->sizes(), operands, kernels.operands);
  for_each_part(space, [&](const Strided& part) {
    const auto vectors = vector_space(part, kernels.itemsize, kernels.width);
    if (vectors) return launch(kernels.vectors, functor, *vectors, note, vectors->vectors, kThreads, stream);
    const LaunchSpace elements = launch_space(part);
    launch(kernels.elements, functor, elements, note, elements.numel, kThreads * kElementsPerThread, stream);
  });
}

}  // namespace keyway::inline v1::cuda
