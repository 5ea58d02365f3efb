// OnDevice and TryOnDevice: a device is current for the runtime as long as they live. Internal to backends/cuda/driver.
#pragma once

#include <keyway/backends/cuda/driver/check.h>

namespace keyway::inline v1::cuda {

// Nothing is thrown: what cannot be done fails in the calls that need it.
class TryOnDevice {
 public:
  explicit TryOnDevice(int device) noexcept {
    const bool known = cudaGetDevice(&before_) == cudaSuccess;
    if (known && before_ == device) return;
    status_ = cudaSetDevice(device);
    changed_ = known;
  }
  ~TryOnDevice() {
    if (changed_) (void)cudaSetDevice(before_);
  }
  TryOnDevice(const TryOnDevice&) = delete;
  TryOnDevice& operator=(const TryOnDevice&) = delete;

  cudaError_t status() const { return status_; }

 private:
  int before_ = 0;
  bool changed_ = false;
  cudaError_t status_ = cudaSuccess;
};

// Throws keyway::Error if the device cannot be made current.
class OnDevice : TryOnDevice {
 public:
  explicit OnDevice(int device) : TryOnDevice(device) { check(status(), "cudaSetDevice", __FILE__, __LINE__); }
};

}  // namespace keyway::inline v1::cuda
