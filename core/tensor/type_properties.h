// DeprecatedTypeProperties: what x.type() gives, dtype and device type in one, as PyTorch had them before
// TensorOptions. For sources that still ask so.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/tensor/tensor_options.h>

namespace keyway::inline v1 {

class DeprecatedTypeProperties {
 public:
  constexpr DeprecatedTypeProperties(ScalarType dtype, DeviceType device) : dtype_(dtype), device_(device) {}

  constexpr ScalarType scalarType() const { return dtype_; }
  constexpr DeviceType device_type() const { return device_; }
  constexpr bool is_cpu() const { return device_ == DeviceType::CPU; }
  constexpr bool is_cuda() const { return device_ == DeviceType::CUDA; }
  constexpr TensorOptions options() const { return TensorOptions().dtype(dtype_).device(device_); }
  constexpr operator TensorOptions() const { return options(); }  // NOLINT
  friend constexpr bool operator==(DeprecatedTypeProperties, DeprecatedTypeProperties) = default;

 private:
  ScalarType dtype_;
  DeviceType device_;
};

}  // namespace keyway::inline v1
