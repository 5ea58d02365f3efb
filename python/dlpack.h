// DLPack's structures, as its version 1 lays them out in memory: what two libraries of one process hand to each other.
#pragma once

#include <cstdint>

namespace keyway::inline v1::python::dlpack {

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
inline constexpr Version kVersion{1, 1};

enum class DeviceCode : std::int32_t { CPU = 1, CUDA = 2, CUDAHost = 3, CUDAManaged = 13 };
struct Device {
  DeviceCode type;
  std::int32_t index;
};

enum class DataCode : std::uint8_t {
  Int = 0,
  UInt = 1,
  Float = 2,
  Bfloat = 4,
  Complex = 5,
  Bool = 6,
  Float8_e4m3fn = 10,
  Float8_e4m3fnuz = 11,
  Float8_e5m2 = 12,
  Float8_e5m2fnuz = 13,
  Float8_e8m0fnu = 14,
};
struct DataType {
  DataCode code;
  std::uint8_t bits;
  std::uint16_t lanes;  // numbers in an element
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t dim;
  DataType dtype;
  std::int64_t* sizes;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

// What a capsule "dltensor" holds.
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed* self);  // may be null
};

// What a capsule "dltensor_versioned" holds. Of another major version only `version` and `deleter` are where they are
// here.
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned* self);  // may be null
  std::uint64_t flags;
  Tensor tensor;
};
inline constexpr std::uint64_t kReadOnly = 1;
inline constexpr std::uint64_t kIsCopied = 2;

// The names of a capsule that nobody has taken the tensor of, and of one that somebody has.
template <typename T>
inline constexpr const char* kFresh = nullptr;
template <>
inline constexpr const char* kFresh<Managed> = "dltensor";
template <>
inline constexpr const char* kFresh<ManagedVersioned> = "dltensor_versioned";
template <typename T>
inline constexpr const char* kTaken = nullptr;
template <>
inline constexpr const char* kTaken<Managed> = "used_dltensor";
template <>
inline constexpr const char* kTaken<ManagedVersioned> = "used_dltensor_versioned";

}  // namespace keyway::inline v1::python::dlpack
