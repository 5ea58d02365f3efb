// Images: a tensor [batch, channels, spatial...] or [channels, spatial...] as convolution and pooling walk over it.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

// Always three spatial dimensions: those that the tensor has not are the first ones, of size 1.
template <typename T>
struct Images {
  Images(const TensorBase& tensor, std::size_t rank) : data(static_cast<T*>(tensor.data_ptr())) {
    const IntArrayRef sizes = tensor.sizes(), steps = tensor.strides();
    const std::size_t first = sizes.size() - rank;
    for (std::size_t d = 0; d < rank; ++d) {
      size[3 - rank + d] = sizes[first + d];
      stride[3 - rank + d] = steps[first + d];
    }
    channels = sizes[first - 1];
    channel_stride = steps[first - 1];
    if (first == 2) {
      batch = sizes[0];
      batch_stride = steps[0];
    }
  }

  T* at(std::int64_t image, std::int64_t channel) const {
    return data + image * batch_stride + channel * channel_stride;
  }
  // Of plane i, channels of one image after those of the one before.
  T* plane(std::int64_t i) const { return at(i / channels, i % channels); }
  std::int64_t planes() const { return batch * channels; }
  std::int64_t positions() const { return size[0] * size[1] * size[2]; }
  std::int64_t offset(std::int64_t d, std::int64_t h, std::int64_t w) const {
    return d * stride[0] + h * stride[1] + w * stride[2];
  }
  bool channels_last() const { return channel_stride == 1 && channels > 1; }

  T* data;
  std::int64_t batch = 1, batch_stride = 0;
  std::int64_t channels, channel_stride;
  std::int64_t size[3] = {1, 1, 1}, stride[3] = {};
};

// The step between neighbours if the dimensions from `first` on are one run of equal steps, or 0.
inline std::int64_t common_step(const TensorBase& tensor, std::size_t first) {
  const IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  std::int64_t step = 0, length = 1;
  for (std::size_t d = sizes.size(); d-- > first;) {
    if (sizes[d] == 1) continue;
    if (length == 1) step = strides[d];
    if (step == 0 || strides[d] != step * length) return 0;
    length *= sizes[d];
  }
  return length == 1 ? 1 : step;
}

// Planes in a part of a parallel loop, if each costs about `work` steps.
inline std::int64_t planes_in_part(double work) {
  return work >= 32768 ? 1 : static_cast<std::int64_t>(32768 / (work + 1)) + 1;
}

}  // namespace keyway::inline v1
