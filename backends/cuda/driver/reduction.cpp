#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/driver/reduction.h>
#include <keyway/backends/cuda/driver/runtime_stream.h>

#include <vector>

namespace keyway::inline v1::cuda {

namespace {

template <typename Launch>
void run(const void* kernel, const void* functor, const Launch& launch, dim3 blocks, cudaStream_t stream) {
  const void* const arguments[] = {functor, &launch};
  launch_with(kernel, blocks, kTeamThreads, stream, arguments);
}

void finish(const ReductionKernels& kernels, const void* functor, const FinishLaunch& launch, cudaStream_t stream) {
  run(kernels.finish, functor, launch, launch.blocks(), stream);
}

// The result of no elements, everywhere: a merge of nothing.
void reduce_nothing(const ReductionKernels& kernels, const void* functor, const TensorBase& out,
                    const TensorBase* second, cudaStream_t stream) {
  const TensorBase* const operands[] = {&out, &out, second != nullptr ? second : &out};
  IterationSpace kept;
  make_iteration_space(kept, out.sizes(), operands, 3);
  for_each_part(kept, [&](const IterationSpace& part) {
    finish(kernels, functor, finish_launch(launch_space(part), 0, 0, nullptr), stream);
  });
}

}  // namespace

void launch_reduction(const ReductionKernels& kernels, const void* functor, const TensorBase& out,
                      const TensorBase* second, const TensorBase& self, IntArrayRef dims) {
  if (out.numel() == 0) return;
  const cudaStream_t stream = runtime_stream(current_stream(out.device()));
  if (self.numel() == 0) return reduce_nothing(kernels, functor, out, second, stream);
  IterationSpace space, all_kept, reduced;
  keyway::detail::make_reduction_space(space, out, second, self, dims, kernels.indexed);
  split_space(space, all_kept, reduced);
  for_each_part(all_kept, [&](const IterationSpace& kept) {
    std::vector<ReductionLaunch> launches = reduction_launches(kept, reduced, kernels.element_bytes);
    const std::uint32_t units = units_of(launches);
    TensorBase partial;
    if (units > 1) {
      const std::int64_t bytes = std::int64_t{units} * launches.front().kept.numel * kernels.acc_bytes;
      partial = make_tensor({bytes}, ScalarType::Byte, out.device());
    }
    for (ReductionLaunch& launch : launches) {
      if (units > 1) launch.partial = static_cast<char*>(partial.data_ptr());
      run(kernels.units, functor, launch, dim3(launch.blocks(), launch.units), stream);
    }
    const ReductionLaunch& first = launches.front();
    if (units > 1) finish(kernels, functor, finish_launch(first.kept, units, first.count, first.partial), stream);
  });
}

}  // namespace keyway::inline v1::cuda
