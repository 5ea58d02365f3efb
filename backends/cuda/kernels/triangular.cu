// tril and triu.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/kernels_triangular.h>

namespace keyway::inline v1::cuda {

namespace {

// Operands: out, self, the row, the column. What lies in columns [row + low, row + high] is kept.
template <typename T>
struct Keep {
  std::int64_t low, high;

  KEYWAY_HD void operator()(const Element<4>& element) const {
    const std::int64_t distance = element.number(3) - element.number(2);
    element.at<T>(0) = low <= distance && distance <= high ? element.at<const T>(1) : T{};
  }
};

void keep(const TensorBase& self, std::int64_t low, std::int64_t high, const TensorBase& out) {
  if (self.numel() == 0) return;
  const std::int64_t rank = self.dim();
  const IterationSpace space =
      ElementSpace(out.sizes()).tensor(out).tensor(self).coordinate(rank - 2).coordinate(rank - 1).space();
  visit_bits(self.itemsize(), [&]<typename T>() { each<4>(space, Keep<T>{low, high}, out.device()); });
}

// More than any column is from any row.
constexpr std::int64_t kFar = std::int64_t{1} << 62;

}  // namespace

void tril(const TensorBase& self, std::int64_t diagonal, TensorBase& out) { keep(self, -kFar, diagonal, out); }

void triu(const TensorBase& self, std::int64_t diagonal, TensorBase& out) { keep(self, diagonal, kFar, out); }

}  // namespace keyway::inline v1::cuda
