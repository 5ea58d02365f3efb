#include <keyway/backends/cpu/kernels_comparison.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/ops/functors/three_way.h>

namespace keyway::inline v1::cpu {

// The driver has narrower operands as what the functor takes.
void _three_way_compare(const TensorBase& self, const TensorBase& other, TensorBase& out) {
  const bool is_unsigned = self.dtype() == ScalarType::UInt64;
  if (other.dtype() == ScalarType::UInt64) {
    if (is_unsigned) return pointwise(CompareWithUnsigned<std::uint64_t>{}, out, self, other);
    return pointwise(CompareWithUnsigned<std::int64_t>{}, out, self, other);
  }
  if (is_unsigned) return pointwise(CompareWithFloat<std::uint64_t>{}, out, self, other);
  pointwise(CompareWithFloat<std::int64_t>{}, out, self, other);
}

}  // namespace keyway::inline v1::cpu
