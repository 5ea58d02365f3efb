// Streams of CUDA devices: keyway::Stream, which turns into the runtime's cudaStream_t.
#pragma once

#include <keyway/core/device/stream_guard.h>

#include <c10/core/Stream.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAMacros.h>
#include <limits>

namespace c10::cuda {

class CUDAStream {
 public:
  explicit CUDAStream(Stream stream) : stream_(stream) {
    TORCH_CHECK(stream.device_type() == DeviceType::CUDA, "a CUDAStream of ", to_string(stream));
  }

  cudaStream_t stream() const { return static_cast<cudaStream_t>(stream_.native_handle()); }
  operator cudaStream_t() const { return stream(); }  // NOLINT: what kernels are launched with
  operator Stream() const { return stream_; }         // NOLINT
  const Stream& unwrap() const { return stream_; }
  Device device() const { return stream_.device(); }
  std::int8_t device_index() const { return stream_.device().index(); }
  StreamId id() const { return stream_.id(); }
  bool query() const { return stream_.query(); }
  void synchronize() const { stream_.synchronize(); }
  friend bool operator==(const CUDAStream&, const CUDAStream&) = default;

 private:
  Stream stream_;
};

// Of an index; that of -1 is the current one.
inline Device cuda_device(int index) {
  TORCH_CHECK(index >= -1 && index <= std::numeric_limits<std::int8_t>::max(), "there is no CUDA device ", index);
  return Device(DeviceType::CUDA, static_cast<std::int8_t>(index));
}

inline CUDAStream getCurrentCUDAStream(int device = -1) { return CUDAStream(current_stream(cuda_device(device))); }
inline CUDAStream getDefaultCUDAStream(int device = -1) { return CUDAStream(default_stream(cuda_device(device))); }
inline CUDAStream getStreamFromPool(bool is_high_priority = false, int device = -1) {
  return CUDAStream(new_stream(cuda_device(device), is_high_priority ? -1 : 0));
}

}  // namespace c10::cuda

namespace at::cuda {
using namespace c10::cuda;  // NOLINT(google-build-using-namespace)
}  // namespace at::cuda
