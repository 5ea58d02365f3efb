// Numbers in and out of tensors of one element.
#include <keyway/stable/abi/calls.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>

#include <cstring>

using namespace keyway;
using namespace keyway::abi;

namespace {

// The bytes of the one element, which are those of the result.
template <typename Result>
AOTITorchError item(const char* function, AtenTensorHandle handle, ScalarType dtype, Result* result) {
  return guarded(function, [&] {
    const TensorBase& tensor = tensor_of(handle);
    KEYWAY_CHECK(tensor.numel() == 1, "the tensor has {} elements, not one", tensor.numel());
    KEYWAY_CHECK_AS(Dtype, tensor.dtype() == dtype, "the tensor is of {}, not {}", tensor.dtype(), dtype);
    const TensorBase on_cpu = tensor.is_cpu() ? tensor : make_tensor(tensor.sizes(), dtype, Device(DeviceType::CPU));
    if (!tensor.is_cpu()) call("copy_", {on_cpu, tensor, IValue(false)});
    std::memcpy(&checked(result, "the result"), on_cpu.data_ptr(), sizeof(Result));
  });
}

template <typename Number>
AOTITorchError tensor_with(const char* function, Number value, ScalarType dtype, AtenTensorHandle* result) {
  return guarded(function, [&] {
    const TensorBase tensor = make_tensor({}, dtype, Device(DeviceType::CPU));
    std::memcpy(tensor.data_ptr(), &value, sizeof(value));
    give_handle(result, tensor);
  });
}

}  // namespace

#define KEYWAY_ABI_ITEM(name, type, dtype)                                       \
  AOTITorchError aoti_torch_item_##name(AtenTensorHandle tensor, type* result) { \
    return item(__func__, tensor, dtype, result);                                \
  }
KEYWAY_ABI_ITEM(float16, std::uint16_t, kFloat16)
KEYWAY_ABI_ITEM(bfloat16, std::uint16_t, kBFloat16)
KEYWAY_ABI_ITEM(float32, float, kFloat32)
KEYWAY_ABI_ITEM(float64, double, kFloat64)
KEYWAY_ABI_ITEM(uint8, std::uint8_t, kUInt8)
KEYWAY_ABI_ITEM(uint16, std::uint16_t, kUInt16)
KEYWAY_ABI_ITEM(uint32, std::uint32_t, kUInt32)
KEYWAY_ABI_ITEM(uint64, std::uint64_t, kUInt64)
KEYWAY_ABI_ITEM(int8, std::int8_t, kInt8)
KEYWAY_ABI_ITEM(int16, std::int16_t, kInt16)
KEYWAY_ABI_ITEM(int32, std::int32_t, kInt32)
KEYWAY_ABI_ITEM(int64, std::int64_t, kInt64)
KEYWAY_ABI_ITEM(bool, bool, kBool)
KEYWAY_ABI_ITEM(complex64, KeywayComplexFloat, kComplexFloat)

#define KEYWAY_ABI_NUMBER(name, type, dtype)                                                \
  AOTITorchError aoti_torch_scalar_to_tensor_##name(type value, AtenTensorHandle* result) { \
    return tensor_with(__func__, value, dtype, result);                                     \
  }
KEYWAY_ABI_NUMBER(float32, float, kFloat32)
KEYWAY_ABI_NUMBER(float64, double, kFloat64)
KEYWAY_ABI_NUMBER(uint8, std::uint8_t, kUInt8)
KEYWAY_ABI_NUMBER(uint16, std::uint16_t, kUInt16)
KEYWAY_ABI_NUMBER(uint32, std::uint32_t, kUInt32)
KEYWAY_ABI_NUMBER(uint64, std::uint64_t, kUInt64)
KEYWAY_ABI_NUMBER(int8, std::int8_t, kInt8)
KEYWAY_ABI_NUMBER(int16, std::int16_t, kInt16)
KEYWAY_ABI_NUMBER(int32, std::int32_t, kInt32)
KEYWAY_ABI_NUMBER(int64, std::int64_t, kInt64)
KEYWAY_ABI_NUMBER(bool, bool, kBool)
KEYWAY_ABI_NUMBER(complex64, KeywayComplexFloat, kComplexFloat)
KEYWAY_ABI_NUMBER(complex128, KeywayComplexDouble, kComplexDouble)
