// DLPack: tensors handed to other libraries and taken from them without a copy. Its structures, as its version 1 lays
// them out in memory, are what two libraries of one process hand to each other.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/python/buffers.h>

#include <cstdint>
#include <optional>

namespace keyway::inline v1::python {
namespace dlpack {

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

// What a capsule holds. Its name says whether somebody has taken the tensor.
struct Managed {
  static constexpr const char *kFresh = "dltensor", *kTaken = "used_dltensor";

  Tensor tensor;
  void* context;
  void (*deleter)(Managed* self);  // may be null
};

// The same since version 1. Of another major version only `version` and `deleter` are where they are
// here.
struct ManagedVersioned {
  static constexpr const char *kFresh = "dltensor_versioned", *kTaken = "used_dltensor_versioned";

  Version version;
  void* context;
  void (*deleter)(ManagedVersioned* self);  // may be null
  std::uint64_t flags;
  Tensor tensor;
};
inline constexpr std::uint64_t kReadOnly = 1;
inline constexpr std::uint64_t kIsCopied = 2;

}  // namespace dlpack

// Dtypes and devices in these words, and back.
std::optional<dlpack::DataType> to_dlpack(ScalarType dtype);
std::optional<ScalarType> from_dlpack(dlpack::DataType type);
std::optional<dlpack::Device> to_dlpack(Device device);
std::optional<Device> from_dlpack(dlpack::Device device);

// Whether `object` hands its memory out by DLPack.
bool has_dlpack(PyObject* object);
// A tensor over the memory of an object that has_dlpack, or of a capsule, which is taken then. Errors: Python's
// BufferError for what no tensor can be over; what the object throws.
ForeignTensor import_dlpack(PyObject* object);

}  // namespace keyway::inline v1::python
