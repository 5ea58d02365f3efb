#include <keyway/core/device/device_guard_impl.h>
#include <keyway/core/device/pending_calls.h>
#include <keyway/core/tensor/dlpack.h>
#include <keyway/core/tensor/foreign_memory.h>

#include <concepts>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace keyway::inline v1::dlpack {
namespace {

constexpr std::pair<ScalarType, DLDataTypeCode> kCodes[] = {
    {kBool, kDLBool},
    {kByte, kDLUInt},
    {kUInt16, kDLUInt},
    {kUInt32, kDLUInt},
    {kUInt64, kDLUInt},
    {kChar, kDLInt},
    {kShort, kDLInt},
    {kInt, kDLInt},
    {kLong, kDLInt},
    {kHalf, kDLFloat},
    {kFloat, kDLFloat},
    {kDouble, kDLFloat},
    {kBFloat16, kDLBfloat},
    {kComplexHalf, kDLComplex},
    {kComplexFloat, kDLComplex},
    {kComplexDouble, kDLComplex},
    {keyway::kFloat8_e4m3fn, dlpack::kDLFloat8_e4m3fn},
    {keyway::kFloat8_e4m3fnuz, dlpack::kDLFloat8_e4m3fnuz},
    {keyway::kFloat8_e5m2, dlpack::kDLFloat8_e5m2},
    {keyway::kFloat8_e5m2fnuz, dlpack::kDLFloat8_e5m2fnuz},
    {keyway::kFloat8_e8m0fnu, dlpack::kDLFloat8_e8m0fnu},
};

std::uint8_t bits_of(ScalarType dtype) { return static_cast<std::uint8_t>(8 * element_size(dtype)); }

// The type in use that has the code.
std::optional<DeviceType> type_of(DLDeviceType code) {
  std::optional<DeviceType> found;
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    const auto type = static_cast<DeviceType>(i);
    const DeviceGuardImplInterface* const guard = find_device_guard_impl(type);
    if (type <= DeviceType::Meta || guard == nullptr || guard->dlpack_device_type() != code) continue;
    KEYWAY_CHECK(!found, "DLPack's device type {} is that of {} and of {}: one of them has to say another one",
                 static_cast<int>(code), *found, type);
    found = type;
  }
  return found;
}

template <typename Managed>
constexpr bool kIsVersioned = std::is_same_v<Managed, DLManagedTensorVersioned>;

// What is handed out, and what keeps it.
template <typename Managed>
struct Exported {
  Managed managed{};
  Storage storage;
  DimVector sizes, strides;
};

template <typename Managed>
Managed* export_tensor(const TensorBase& tensor, std::uint64_t flags) {
  KEYWAY_CHECK_AS(Type, tensor.defined(), "to_dlpack: argument 'tensor' is undefined");
  KEYWAY_CHECK_AS(Type, !tensor.key_set().has(Functionality::Batched),
                  "to_dlpack: a tensor inside vmap has no memory of its own");
  KEYWAY_CHECK_AS(Type, !tensor.key_set().has(Functionality::Python), "to_dlpack: a wrapper tensor has no memory");
  const auto dtype = to_dlpack(tensor.dtype());
  KEYWAY_CHECK_AS(NotImplemented, dtype, "DLPack has no dtype {}", tensor.dtype());
  const auto device = to_dlpack(tensor.device());
  KEYWAY_CHECK_AS(NotImplemented, device, "DLPack has no device {}", tensor.device());

  make_calls_pending_for(tensor);
  auto exported = std::make_unique<Exported<Managed>>();
  exported->storage = tensor.storage();
  exported->sizes = DimVector(tensor.sizes());
  exported->strides = DimVector(tensor.strides());
  Managed& managed = exported->managed;
  managed.dl_tensor = {.data = tensor.numel() == 0 ? nullptr : tensor.mutable_data_ptr(),
                       .device = *device,
                       .ndim = static_cast<std::int32_t>(tensor.dim()),
                       .dtype = *dtype,
                       .shape = exported->sizes.data(),
                       .strides = exported->strides.data(),
                       .byte_offset = 0};
  exported->storage.impl()->forbid_resize();  // of bytes of its own, for which there was memory
  managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager_ctx); };
  if constexpr (kIsVersioned<Managed>) {
    managed.version = kVersion;
    managed.flags = flags;
  }
  managed.manager_ctx = exported.get();
  return &exported.release()->managed;
}

// What a tensor needs of a DLTensor, checked.
struct Description {
  explicit Description(const DLTensor& from) {
    const auto known_dtype = from_dlpack(from.dtype);
    KEYWAY_CHECK_AS(NotImplemented, known_dtype, "no dtype is what DLPack calls code {}, {} bits, {} lanes",
                    static_cast<int>(from.dtype.code), static_cast<int>(from.dtype.bits),
                    static_cast<int>(from.dtype.lanes));
    dtype = *known_dtype;
    const auto known_device = from_dlpack(from.device);
    KEYWAY_CHECK_AS(NotImplemented, known_device, "no device is what DLPack calls device {}:{}",
                    static_cast<int>(from.device.device_type), from.device.device_id);
    device = *known_device;
    KEYWAY_CHECK(from.ndim >= 0 && from.ndim <= kMaxDims && (from.ndim == 0 || from.shape != nullptr),
                 "a DLPack tensor of {} dimensions, or without sizes", from.ndim);
    const auto rank = static_cast<std::size_t>(from.ndim);
    if (rank != 0) sizes = DimVector(IntArrayRef(from.shape, rank));
    const std::int64_t numel = checked_numel(sizes);
    strides =
        from.strides == nullptr || rank == 0 ? contiguous_strides(sizes) : DimVector(IntArrayRef(from.strides, rank));
    KEYWAY_CHECK(numel == 0 || from.data != nullptr, "a DLPack tensor with elements and without memory");
    data = numel == 0 ? nullptr : static_cast<char*>(from.data) + from.byte_offset;
  }

  DimVector sizes, strides;
  ScalarType dtype{};
  Device device = DeviceType::CPU;
  void* data;
};

// Calls the deleter when it goes, once the tensor stands.
template <typename Managed>
struct Taken {
  Taken() = default;
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
  }
  Managed* managed = nullptr;
};

template <typename Managed>
TensorBase import_tensor(Managed* managed) {
  KEYWAY_CHECK_AS(Type, managed != nullptr, "from_dlpack: a null pointer is no DLPack tensor");
  if constexpr (kIsVersioned<Managed>) {
    KEYWAY_CHECK_AS(NotImplemented, managed->version.major == kVersion.major, "a tensor of DLPack {}, not {}",
                    managed->version.major, kVersion.major);
  }
  const Description it(managed->dl_tensor);
  auto owner = std::make_unique<Taken<Managed>>();
  Taken<Managed>* const taken = owner.get();
  TensorBase tensor = tensor_over(data_of(std::move(owner), it.data, it.device), it.sizes, it.strides, it.dtype);
  taken->managed = managed;
  return tensor;
}

}  // namespace

std::optional<DLDataType> to_dlpack(ScalarType dtype) {
  for (const auto& [its, code] : kCodes) {
    if (its == dtype) return DLDataType{code, bits_of(dtype), 1};
  }
  return std::nullopt;
}

std::optional<ScalarType> from_dlpack(DLDataType type) {
  for (const auto& [dtype, code] : kCodes) {
    if (code == type.code && bits_of(dtype) == type.bits && type.lanes == 1) return dtype;
  }
  return std::nullopt;
}

std::optional<DLDevice> to_dlpack(Device device) {
  if (device.is_cpu()) return DLDevice{kDLCPU, 0};
  if (device.is_cuda()) return DLDevice{kDLCUDA, device.index()};
  const DeviceGuardImplInterface* const guard = find_device_guard_impl(device.type());
  if (device.is_meta() || guard == nullptr) return std::nullopt;
  return DLDevice{static_cast<DLDeviceType>(guard->dlpack_device_type()), device.index()};
}

std::optional<Device> from_dlpack(DLDevice device) {
  std::optional<DeviceType> type;
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost: return Device(DeviceType::CPU);
    case kDLCUDA:
    case kDLCUDAManaged: type = DeviceType::CUDA; break;
    default: type = type_of(device.device_type);
  }
  if (!type || device.device_id < 0 || device.device_id > std::numeric_limits<std::int8_t>::max()) return std::nullopt;
  return Device(*type, static_cast<std::int8_t>(device.device_id));
}

DLManagedTensor* to_dlpack(const TensorBase& tensor) { return export_tensor<DLManagedTensor>(tensor, 0); }
DLManagedTensorVersioned* to_dlpack_versioned(const TensorBase& tensor, std::uint64_t flags) {
  return export_tensor<DLManagedTensorVersioned>(tensor, flags);
}
TensorBase from_dlpack(DLManagedTensor* managed) { return import_tensor(managed); }
TensorBase from_dlpack(DLManagedTensorVersioned* managed) { return import_tensor(managed); }

}  // namespace keyway::inline v1::dlpack
