// Conversion between all pairs of dtypes: a kernel for each that is written, in which every thread of a launch asks the
// same question, what is read. A kernel for each pair would be some hundred, so few have their own. Floats of 8 bits
// are read as float32 first, which holds all of them.
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/driver/pointwise.cuh>
#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/copy.h>

namespace keyway::inline v1::cuda {

namespace {

// The elements of a thread, of dtype From.
template <typename To>
struct ConvertElements {
  char* const* data;
  const std::int64_t (&offset)[kElementsPerThread][2];
  const bool (&exists)[kElementsPerThread];

  template <typename From>
  __device__ void operator()() const {
    using Of = detail::PointwiseOf<Cast<To, From>, To, std::tuple<From>>;
    Of::elements(Cast<To, From>{}, DeviceAssertTarget{}, data, offset, exists, std::index_sequence<0>());
  }
};

// From floats of 8 bits, or from what has arithmetic.
template <typename To, bool of_float8>
__global__ void __launch_bounds__(kThreads)
    convert(const __grid_constant__ LaunchSpace space, const __grid_constant__ ScalarType from) {
  std::int64_t offset[kElementsPerThread][2];
  bool exists[kElementsPerThread];
  detail::locate_elements(space, offset, exists);
  const ConvertElements<To> convert_from{space.data, offset, exists};
  keyway::detail::visit_in<of_float8 ? kFloat8Types : kAnyTypes>(from, convert_from);
}

// What a training in mixed precision converts between has a kernel for each pair, which moves vectors.
constexpr DtypeSet kMixed{ScalarType::Float, ScalarType::Half, ScalarType::BFloat16};

bool convert_vectors(const TensorBase& src, const TensorBase& dst) {
  if (!kMixed.contains(src.dtype()) || !kMixed.contains(dst.dtype())) return false;
  visit_dtype<kMixed>(dst.dtype(), "copy_", [&]<typename To>() {
    visit_dtype<kMixed>(src.dtype(), "copy_", [&]<typename From>() {
      if constexpr (!std::same_as<To, From>) pointwise(Cast<To, From>{}, dst, src);
    });
  });
  return true;
}

template <DtypeSet to, bool of_float8>
void convert_each(const TensorBase& src, const TensorBase& dst) {
  const cudaStream_t stream = runtime_stream(cuda_device_guard().get_stream(dst.device()));
  const TensorBase* const operands[] = {&dst, &src};
  IterationSpace space;
  make_iteration_space(space, dst.sizes(), operands, 2);
  visit_dtype<to>(dst.dtype(), "copy_", [&]<typename To>() {
    for_each_part(space, [&](const IterationSpace& part) {
      const LaunchSpace elements = launch_space(part);
      launch(&convert<To, of_float8>, blocks_for(elements.numel, kThreads * kElementsPerThread), kThreads, stream,
             elements, src.dtype());
    });
  });
}

}  // namespace

void convert_elements(const TensorBase& src, const TensorBase& dst) {
  if (dst.numel() == 0 || convert_vectors(src, dst)) return;
  if (!kCastTypes.contains(src.dtype())) keyway::detail::fail_dtype(src.dtype(), kCastTypes, "copy_");
  if (!kFloat8Types.contains(src.dtype())) return convert_each<kCastTypes, false>(src, dst);
  if (dst.dtype() == kFloat) return convert_each<DtypeSet{kFloat}, true>(src, dst);
  const TensorBase between = make_tensor(src.sizes(), kFloat, dst.device());
  convert_each<DtypeSet{kFloat}, true>(src, between);
  convert_elements(between, dst);
}

}  // namespace keyway::inline v1::cuda
