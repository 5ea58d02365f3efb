// DLPack: tensors handed to other libraries of the process, and taken from them, without a copy.
//
//   DLManagedTensor* out = dlpack::to_dlpack(x);       // whoever takes it calls its deleter
//   Tensor y = dlpack::from_dlpack(out);               // or so
//
// The structures are those of DLPack 1.1 (dmlc.github.io/dlpack), name by name and byte by byte.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>
#include <optional>

namespace keyway::inline v1::dlpack {

enum DLDeviceType : std::int32_t {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,  // memory of the CPU that is pinned
  kDLExtDev = 12,   // what the specification has no number for
  kDLCUDAManaged = 13,
};
struct DLDevice {
  DLDeviceType device_type;
  std::int32_t device_id;
};

enum DLDataTypeCode : std::uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e4m3fnuz = 11,
  kDLFloat8_e5m2 = 12,
  kDLFloat8_e5m2fnuz = 13,
  kDLFloat8_e8m0fnu = 14,
};
struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;  // numbers in an element
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);  // may be null
};

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};
inline constexpr DLPackVersion kVersion{1, 1};
inline constexpr std::uint64_t kReadOnly = 1, kIsCopied = 2;  // flags

// The same since version 1. Of another major version only `version` and `deleter` are where they are here.
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);  // may be null
  std::uint64_t flags;
  DLTensor dl_tensor;
};

// Dtypes and devices in these words, and back; nullopt where there is none. A device type of a plug-in has the code
// that its DeviceGuardImplInterface::dlpack_device_type() says. Errors (Value): a code that several types in use have.
KEYWAY_API std::optional<DLDataType> to_dlpack(ScalarType dtype);
KEYWAY_API std::optional<ScalarType> from_dlpack(DLDataType type);
KEYWAY_API std::optional<DLDevice> to_dlpack(Device device);
KEYWAY_API std::optional<Device> from_dlpack(DLDevice device);

// The memory of a tensor, without its history. It lives until the deleter is called, from any thread; its storage
// cannot be resized from then on. On a device, work that is queued for the tensor may not be done yet. Errors: Type for
// an undefined tensor and for one inside vmap; NotImplemented for a dtype or a device that DLPack does not have.
[[nodiscard]] KEYWAY_API DLManagedTensor* to_dlpack(const TensorBase& tensor);
[[nodiscard]] KEYWAY_API DLManagedTensorVersioned* to_dlpack_versioned(const TensorBase& tensor,
                                                                       std::uint64_t flags = 0);

// A tensor over the memory, which calls the deleter when the last tensor over it goes. Errors, after which `managed` is
// still the caller's: NotImplemented for a dtype, a device or a major version that is not known; Value for what no
// tensor can be over: negative sizes or strides, more than 64 dimensions, elements without memory, an address that is
// no multiple of an element's size.
[[nodiscard]] KEYWAY_API TensorBase from_dlpack(DLManagedTensor* managed);
[[nodiscard]] KEYWAY_API TensorBase from_dlpack(DLManagedTensorVersioned* managed);

}  // namespace keyway::inline v1::dlpack
