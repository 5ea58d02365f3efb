#include <keyway/python/dlpack.h>

#include <utility>

namespace keyway::inline v1::python {
namespace {

using dlpack::DataCode;

constexpr std::pair<ScalarType, DataCode> kCodes[] = {
    {kBool, DataCode::Bool},
    {kByte, DataCode::UInt},
    {kUInt16, DataCode::UInt},
    {kUInt32, DataCode::UInt},
    {kUInt64, DataCode::UInt},
    {kChar, DataCode::Int},
    {kShort, DataCode::Int},
    {kInt, DataCode::Int},
    {kLong, DataCode::Int},
    {kHalf, DataCode::Float},
    {kFloat, DataCode::Float},
    {kDouble, DataCode::Float},
    {kBFloat16, DataCode::Bfloat},
    {kComplexHalf, DataCode::Complex},
    {kComplexFloat, DataCode::Complex},
    {kComplexDouble, DataCode::Complex},
    {kFloat8_e4m3fn, DataCode::Float8_e4m3fn},
    {kFloat8_e4m3fnuz, DataCode::Float8_e4m3fnuz},
    {kFloat8_e5m2, DataCode::Float8_e5m2},
    {kFloat8_e5m2fnuz, DataCode::Float8_e5m2fnuz},
    {kFloat8_e8m0fnu, DataCode::Float8_e8m0fnu},
};

std::uint8_t bits_of(ScalarType dtype) { return static_cast<std::uint8_t>(8 * element_size(dtype)); }

}  // namespace

std::optional<dlpack::DataType> to_dlpack(ScalarType dtype) {
  for (const auto& [its, code] : kCodes) {
    if (its == dtype) return dlpack::DataType{code, bits_of(dtype), 1};
  }
  return std::nullopt;
}

std::optional<ScalarType> from_dlpack(dlpack::DataType type) {
  for (const auto& [dtype, code] : kCodes) {
    if (code == type.code && bits_of(dtype) == type.bits && type.lanes == 1) return dtype;
  }
  return std::nullopt;
}

std::optional<dlpack::Device> to_dlpack(Device device) {
  if (device.is_cpu()) return dlpack::Device{dlpack::DeviceCode::CPU, 0};
  if (device.is_cuda()) return dlpack::Device{dlpack::DeviceCode::CUDA, device.index()};
  return std::nullopt;
}

std::optional<Device> from_dlpack(dlpack::Device device) {
  switch (device.type) {
    case dlpack::DeviceCode::CPU:
    case dlpack::DeviceCode::CUDAHost: return Device(DeviceType::CPU);
    case dlpack::DeviceCode::CUDA:
    case dlpack::DeviceCode::CUDAManaged:
      if (device.index < 0 || device.index > 127) return std::nullopt;
      return Device(DeviceType::CUDA, static_cast<std::int8_t>(device.index));
  }
  return std::nullopt;
}

}  // namespace keyway::inline v1::python
