// TensorInfo of a tensor.
#pragma once

#include <ATen/cuda/detail/TensorInfo.cuh>

namespace at::cuda::detail {

// Whether offsets of all elements fit 32 bits.
inline bool canUse32BitIndexMath(const Tensor& tensor,
                                 std::int64_t largest = std::numeric_limits<std::int32_t>::max()) {
  std::int64_t last = 0;
  for (std::int64_t dim = 0; dim < tensor.dim() && tensor.numel() != 0; ++dim)
    last += (tensor.size(dim) - 1) * tensor.stride(dim);
  return tensor.numel() <= largest && last <= largest;
}

// Throws keyway::Error for a tensor of more dimensions than a TensorInfo holds.
template <typename T, typename IndexType>
TensorInfo<T, IndexType> getTensorInfo(const Tensor& tensor) {
  TORCH_CHECK(tensor.dim() <= kMaxTensorDims, "getTensorInfo: a tensor of ", tensor.dim(), " dimensions; ",
              kMaxTensorDims, " are the most");
  TensorInfo<T, IndexType> info;
  info.data = tensor.data_ptr<std::remove_const_t<T>>();
  info.dims = static_cast<int>(tensor.dim());
  for (int dim = 0; dim < info.dims; ++dim) {
    info.sizes[dim] = static_cast<IndexType>(tensor.size(dim));
    info.strides[dim] = static_cast<IndexType>(tensor.stride(dim));
  }
  return info;
}

}  // namespace at::cuda::detail
