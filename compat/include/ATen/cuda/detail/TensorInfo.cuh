// TensorInfo: a tensor's data, sizes and strides, to hand to a kernel by value.
#pragma once

#include <ATen/core/Tensor.h>

namespace at::cuda::detail {

inline constexpr int kMaxTensorDims = 25;

template <typename T, typename IndexType>
struct TensorInfo {
  T* data = nullptr;
  IndexType sizes[kMaxTensorDims];
  IndexType strides[kMaxTensorDims];
  int dims = 0;
};

// Where the element with a number in the order of rows lies. Dims is the number of dimensions, where it is known while
// compiling, and -1 otherwise.
template <typename T, typename IndexType, int Dims>
struct IndexToOffset {
  static KEYWAY_HD IndexType get(IndexType linear, const TensorInfo<T, IndexType>& info) {
    IndexType offset = 0;
    for (int dim = (Dims > 0 ? Dims : info.dims) - 1; dim > 0; --dim) {
      offset += linear % info.sizes[dim] * info.strides[dim];
      linear /= info.sizes[dim];
    }
    return offset + (info.dims > 0 ? linear * info.strides[0] : 0);
  }
};

}  // namespace at::cuda::detail
