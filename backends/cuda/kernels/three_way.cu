#include <keyway/backends/cuda/driver/pointwise.cuh>
#include <keyway/backends/cuda/kernels/kernels_comparison.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/ops/functors/three_way.h>

namespace keyway::inline v1::cuda {

void _three_way_compare(const TensorBase& self, const TensorBase& other, TensorBase& out) {
  const bool is_unsigned = self.dtype() == ScalarType::UInt64;
  const TensorBase integers = is_unsigned ? self : as_dtype(self, ScalarType::Long);
  if (other.dtype() == ScalarType::UInt64) {
    if (is_unsigned) return pointwise(CompareWithUnsigned<std::uint64_t>{}, out, integers, other);
    return pointwise(CompareWithUnsigned<std::int64_t>{}, out, integers, other);
  }
  const TensorBase numbers = as_dtype(other, ScalarType::Double);
  if (is_unsigned) return pointwise(CompareWithFloat<std::uint64_t>{}, out, integers, numbers);
  pointwise(CompareWithFloat<std::int64_t>{}, out, integers, numbers);
}

}  // namespace keyway::inline v1::cuda
