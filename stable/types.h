// Dtypes, layouts, memory formats, devices, scalars and generators over the stable C ABI.
#pragma once

#include <keyway/stable/error.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#pragma GCC visibility push(hidden)
namespace keyway::stable {

// Numbers that mean something to the library that serves the caller, and nothing else.
struct ScalarType {
  std::int32_t number;
  friend bool operator==(ScalarType a, ScalarType b) { return a.number == b.number; }
  std::size_t size() const { return aoti_torch_dtype_element_size(number); }
};
struct Layout {
  std::int32_t number;
  friend bool operator==(Layout a, Layout b) { return a.number == b.number; }
};
struct MemoryFormat {
  std::int32_t number;
  friend bool operator==(MemoryFormat a, MemoryFormat b) { return a.number == b.number; }
};
struct DeviceType {
  std::int32_t number;
  friend bool operator==(DeviceType a, DeviceType b) { return a.number == b.number; }
};

inline const ScalarType kUInt8{aoti_torch_dtype_uint8()}, kUInt16{aoti_torch_dtype_uint16()};
inline const ScalarType kUInt32{aoti_torch_dtype_uint32()}, kUInt64{aoti_torch_dtype_uint64()};
inline const ScalarType kInt8{aoti_torch_dtype_int8()}, kInt16{aoti_torch_dtype_int16()};
inline const ScalarType kInt32{aoti_torch_dtype_int32()}, kInt64{aoti_torch_dtype_int64()};
inline const ScalarType kFloat16{aoti_torch_dtype_float16()}, kBFloat16{aoti_torch_dtype_bfloat16()};
inline const ScalarType kFloat32{aoti_torch_dtype_float32()}, kFloat64{aoti_torch_dtype_float64()};
inline const ScalarType kComplexFloat{aoti_torch_dtype_complex64()}, kComplexDouble{aoti_torch_dtype_complex128()};
inline const ScalarType kBool{aoti_torch_dtype_bool()};
inline const Layout kStrided{aoti_torch_layout_strided()};
inline const MemoryFormat kContiguous{aoti_torch_memory_format_contiguous_format()};
inline const MemoryFormat kPreserve{aoti_torch_memory_format_preserve_format()};
inline const MemoryFormat kChannelsLast{aoti_torch_memory_format_channels_last()};
inline const DeviceType kCPU{aoti_torch_device_type_cpu()}, kCUDA{aoti_torch_device_type_cuda()};
inline const DeviceType kMeta{aoti_torch_device_type_meta()};

// The dtype whose elements are of type T.
template <typename T>
ScalarType dtype_of() = delete;
#define KEYWAY_STABLE_DTYPE(type, dtype) \
  template <>                            \
  inline ScalarType dtype_of<type>() {   \
    return dtype;                        \
  }
KEYWAY_STABLE_DTYPE(std::uint8_t, kUInt8)
KEYWAY_STABLE_DTYPE(std::uint16_t, kUInt16)
KEYWAY_STABLE_DTYPE(std::uint32_t, kUInt32)
KEYWAY_STABLE_DTYPE(std::uint64_t, kUInt64)
KEYWAY_STABLE_DTYPE(std::int8_t, kInt8)
KEYWAY_STABLE_DTYPE(std::int16_t, kInt16)
KEYWAY_STABLE_DTYPE(std::int32_t, kInt32)
KEYWAY_STABLE_DTYPE(std::int64_t, kInt64)
KEYWAY_STABLE_DTYPE(float, kFloat32)
KEYWAY_STABLE_DTYPE(double, kFloat64)
KEYWAY_STABLE_DTYPE(bool, kBool)
KEYWAY_STABLE_DTYPE(std::complex<float>, kComplexFloat)
KEYWAY_STABLE_DTYPE(std::complex<double>, kComplexDouble)
#undef KEYWAY_STABLE_DTYPE

struct Device {
  DeviceType type = kCPU;
  std::int32_t index = -1;

  Device() = default;
  Device(DeviceType type_of_device, std::int32_t device_index = -1)  // NOLINT
      : type(type_of_device), index(device_index) {}
  explicit Device(const std::string& text) {
    std::uint32_t number = 0;
    check(torch_parse_device_string(text.c_str(), &number, &index));
    type = DeviceType{static_cast<std::int32_t>(number)};
  }
  friend bool operator==(Device a, Device b) { return a.type == b.type && a.index == b.index; }
};

// One number of any kind, which only Keyway's slots hold.
class Scalar {
 public:
  Scalar(bool value) : kind_(Kind::Bool), re_(value ? 1 : 0) {}                                       // NOLINT
  Scalar(int value) : Scalar(std::int64_t{value}) {}                                                  // NOLINT
  Scalar(std::int64_t value) : kind_(Kind::Int), integer_(value) {}                                   // NOLINT
  Scalar(double value) : kind_(Kind::Double), re_(value) {}                                           // NOLINT
  Scalar(std::complex<double> value) : kind_(Kind::Complex), re_(value.real()), im_(value.imag()) {}  // NOLINT
  // Takes over the handle.
  explicit Scalar(KeywayScalarHandle handle) {
    const std::unique_ptr<KeywayScalarOpaque, void (*)(KeywayScalarHandle)> owned(
        handle, [](KeywayScalarHandle scalar) { keyway_abi_delete_scalar(scalar); });
    const ScalarType dtype{get<std::int32_t>(keyway_abi_scalar_get_dtype, handle)};
    if (dtype == kComplexDouble) {
      kind_ = Kind::Complex;
      check(keyway_abi_scalar_get_complex128(handle, &re_, &im_));
    } else if (dtype == kFloat64) {
      kind_ = Kind::Double;
      re_ = get<double>(keyway_abi_scalar_get_float64, handle);
    } else {
      kind_ = dtype == kBool ? Kind::Bool : Kind::Int;
      integer_ = get<std::int64_t>(keyway_abi_scalar_get_int64, handle);
      re_ = static_cast<double>(integer_);
    }
  }

  bool is_integral() const { return kind_ == Kind::Int; }
  bool is_bool() const { return kind_ == Kind::Bool; }
  bool is_complex() const { return kind_ == Kind::Complex; }
  double to_double() const {
    KEYWAY_STABLE_CHECK(!is_complex() || im_ == 0, "the complex number ", re_, " + ", im_, "i is no real one");
    return is_integral() ? static_cast<double>(integer_) : re_;
  }
  std::int64_t to_int() const { return is_integral() ? integer_ : static_cast<std::int64_t>(to_double()); }
  std::complex<double> to_complex() const { return is_complex() ? std::complex<double>(re_, im_) : to_double(); }

  // A handle of its own, which the caller deletes.
  KeywayScalarHandle handle() const {
    switch (kind_) {
      case Kind::Bool: return get<KeywayScalarHandle>(keyway_abi_new_scalar_bool, re_ != 0);
      case Kind::Int: return get<KeywayScalarHandle>(keyway_abi_new_scalar_int64, integer_);
      case Kind::Double: return get<KeywayScalarHandle>(keyway_abi_new_scalar_float64, re_);
      default: return get<KeywayScalarHandle>(keyway_abi_new_scalar_complex128, re_, im_);
    }
  }

 private:
  enum class Kind : std::uint8_t { Bool, Int, Double, Complex } kind_ = Kind::Int;
  std::int64_t integer_ = 0;
  double re_ = 0, im_ = 0;
};

// Shares its state with its copies.
class Generator {
 public:
  // Takes over the handle.
  explicit Generator(AtenGeneratorHandle handle)
      : handle_(handle, [](AtenGeneratorHandle generator) { torch_delete_generator(generator); }) {}
  AtenGeneratorHandle get() const { return handle_.get(); }

 private:
  std::shared_ptr<AtenGeneratorOpaque> handle_;
};

}  // namespace keyway::stable
#pragma GCC visibility pop
