// WithDevice and TryWithDevice: a device is current for the runtime as long as they live. Internal to
// backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/check.h>

namespace keyway::inline v1::cuda {

// Nothing is thrown: what cannot be done fails in the calls that need it.
class TryWithDevice {
 public:
  explicit TryWithDevice(int device) noexcept {
    const bool known = cudaGetDevice(&before_) == cudaSuccess;
    if (known && before_ == device) return;
    status_ = cudaSetDevice(device);
    changed_ = known;
  }
  ~TryWithDevice() {
    if (changed_) (void)cudaSetDevice(before_);
  }
  TryWithDevice(const TryWithDevice&) = delete;
  TryWithDevice& operator=(const TryWithDevice&) = delete;

  cudaError_t status() const { return status_; }

 private:
  int before_ = 0;
  bool changed_ = false;
  cudaError_t status_ = cudaSuccess;
};

// Throws keyway::Error if the device cannot be made current.
class WithDevice : TryWithDevice {
 public:
  explicit WithDevice(int device) : TryWithDevice(device) { check(status(), "cudaSetDevice", __FILE__, __LINE__); }
};

}  // namespace keyway::inline v1::cuda
