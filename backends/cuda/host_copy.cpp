#include <keyway/backends/cuda/host_copy.h>
#include <keyway/core/tensor/iteration_space.h>

#include <cstring>

namespace keyway::inline v1::cuda {

namespace {

// Dimension d and those inside it.
void copy_dim(const IterationSpace& space, int d, char* to, const char* from, std::size_t itemsize) {
  if (d < 0) {
    std::memcpy(to, from, itemsize);
    return;
  }
  const std::int64_t size = space.sizes[d], to_stride = space.strides[0][d], from_stride = space.strides[1][d];
  const auto item = static_cast<std::int64_t>(itemsize);
  if (d == 0 && to_stride == item && from_stride == item) {
    std::memcpy(to, from, static_cast<std::size_t>(size) * itemsize);
    return;
  }
  for (std::int64_t i = 0; i < size; ++i) copy_dim(space, d - 1, to + i * to_stride, from + i * from_stride, itemsize);
}

}  // namespace

void copy_on_host(const TensorBase& to, const TensorBase& from) {
  if (to.numel() == 0) return;
  const TensorBase* const operands[] = {&to, &from};
  IterationSpace space;
  make_iteration_space(space, to.sizes(), operands, 2);
  copy_dim(space, space.rank - 1, space.data[0], space.data[1], to.itemsize());
}

}  // namespace keyway::inline v1::cuda
