#include <keyway/backends/cuda/windows.h>
#include <keyway/core/base/error.h>

namespace keyway::inline v1::cuda {

namespace {

std::int64_t size_from_end(const TensorBase& tensor, std::size_t from_end) {
  return tensor.sizes()[tensor.sizes().size() - from_end];
}

}  // namespace

Plane::Plane(const TensorBase& tensor, std::size_t rank) {
  const std::size_t first = tensor.sizes().size() - rank;
  for (std::size_t d = 0; d < rank; ++d) {
    size[3 - rank + d] = tensor.sizes()[first + d];
    stride[3 - rank + d] = tensor.strides()[first + d];
  }
}

Windows fixed_windows(const TensorBase& in, const TensorBase& out, std::size_t rank, IntArrayRef kernel,
                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation) {
  const auto item = [](IntArrayRef list, std::size_t d) { return list[list.size() == 1 ? 0 : d]; };
  Windows windows;
  for (std::size_t d = 0; d < rank; ++d) {
    Axis& axis = windows.axis[3 - rank + d];
    axis.in = size_from_end(in, rank - d);
    axis.out = size_from_end(out, rank - d);
    axis.kernel = item(kernel, d);
    axis.stride = item(stride.empty() ? kernel : stride, d);
    axis.padding = item(padding, d);
    axis.dilation = item(dilation, d);
  }
  return windows;
}

Windows even_windows(const TensorBase& in, const TensorBase& out, std::size_t rank) {
  Windows windows;
  for (std::size_t d = 0; d < rank; ++d) {
    Axis& axis = windows.axis[3 - rank + d];
    axis.in = size_from_end(in, rank - d);
    axis.out = size_from_end(out, rank - d);
    axis.even = true;
    // Where a share begins is a quotient of such a product.
    std::int64_t product = 0;
    KEYWAY_CHECK(!__builtin_mul_overflow(axis.in, axis.out, &product),
                 "{} windows over {} positions are more than this backend counts", axis.out, axis.in);
  }
  return windows;
}

TensorBase plane_origins(const TensorBase& tensor, std::size_t rank) {
  DimVector sizes(tensor.sizes().begin(), tensor.sizes().end());
  for (std::size_t d = sizes.size() - rank; d < sizes.size(); ++d) sizes[d] = 1;
  return make_view(tensor, sizes, tensor.strides(), tensor.storage_offset());
}

}  // namespace keyway::inline v1::cuda
