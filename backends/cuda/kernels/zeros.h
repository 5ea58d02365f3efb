// fill_with_zeros. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::cuda {

// Of a dense tensor, on the current stream of its device.
inline void fill_with_zeros(const TensorBase& tensor) {
  const cudaStream_t stream = runtime_stream(cuda_device_guard().get_stream(tensor.device()));
  KEYWAY_CUDA_CHECK(cudaMemsetAsync(tensor.data_ptr(), 0, tensor.nbytes(), stream));
}

}  // namespace keyway::inline v1::cuda
