#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/copy.h>

#include <cstdint>

namespace keyway::inline v1 {

namespace {

struct Bytes16 {
  std::uint64_t words[2];
};

// Equal dtypes are moved as bits, so that one loop serves all types of a size.
template <typename T>
struct Move {
  T operator()(T x) const { return x; }
};

void move_elements(const TensorBase& src, const TensorBase& dst) {
  switch (src.itemsize()) {
    case 1: return pointwise(Move<std::uint8_t>{}, dst, src);
    case 2: return pointwise(Move<std::uint16_t>{}, dst, src);
    case 4: return pointwise(Move<std::uint32_t>{}, dst, src);
    case 8: return pointwise(Move<std::uint64_t>{}, dst, src);
    default: return pointwise(Move<Bytes16>{}, dst, src);
  }
}

constexpr DtypeSet kConvertible = kAnyTypes;

}  // namespace

void copy_elements(const TensorBase& src, const TensorBase& dst) {
  if (src.dtype() == dst.dtype()) return move_elements(src, dst);
  visit_dtype<kConvertible>(dst.dtype(), "copy_", [&]<typename To>() {
    visit_dtype<kConvertible>(src.dtype(), "copy_", [&]<typename From>() { pointwise(Cast<To, From>{}, dst, src); });
  });
}

}  // namespace keyway::inline v1
