// gather and scatter: along a dimension, each line of one tensor is read or written where a line of indices says.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/kernels_scatter.h>
#include <keyway/backends/cuda/kernels/operands.h>

namespace keyway::inline v1::cuda {

namespace {

// Operands: out, the index, the line of self that it counts in.
template <typename T>
struct Gather {
  static constexpr const char* kRefusal = "argument 'index' has an element that is out of range";
  std::int64_t length, stride;  // of a line; in elements

  KEYWAY_HD bool operator()(const Place<3>& place) const {
    const std::int64_t index = place.at<const std::int64_t>(1);
    if (index < 0 || index >= length) return false;
    place.at<T>(0) = (&place.at<const T>(2))[index * stride];
    return true;
  }
};

}  // namespace

void gather(const TensorBase& self, std::int64_t dim, const TensorBase& index, bool, TensorBase& out) {
  if (index.numel() == 0) return;
  const TensorBase from = with_dim(self), places = with_dim(index), to = with_dim(out);
  const auto d = static_cast<std::size_t>(wrap_dim(dim, from.dim()));
  const Strided space = Places(to.sizes()).tensor(to).tensor(places).line(from, static_cast<std::int64_t>(d)).space();
  visit_bits(self.itemsize(), [&]<typename T>() {
    each<3>(space, Gather<T>{from.sizes()[d], from.strides()[d]}, out.device());
  });
}

}  // namespace keyway::inline v1::cuda
