#include <keyway/stable/abi/handles.h>

namespace keyway::inline v1::abi {

namespace {

constexpr std::uintptr_t kFirstPage = 4096;  // no object stands below it

const char* name_of(HandleKind kind) {
  switch (kind) {
    case HandleKind::Deleted: return "a handle that was deleted";
    case HandleKind::Tensor: return "a tensor";
    case HandleKind::List: return "a list";
    case HandleKind::String: return "a string";
    case HandleKind::Generator: return "a generator";
    case HandleKind::Scalar: return "a scalar";
    case HandleKind::Library: return "a library";
    case HandleKind::DeviceGuard: return "a device guard";
    case HandleKind::Stream: return "a stream";
  }
  return "no handle";
}

}  // namespace

void check_handle(const void* handle, HandleKind kind, const char* name) {
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  KEYWAY_CHECK_AS(Type, handle != nullptr, "the handle of {} is null", name);
  KEYWAY_CHECK_AS(Type, address >= kFirstPage && address % alignof(HandleKind) == 0, "{} is no handle of {}",
                  static_cast<std::uint64_t>(address), name);
  const HandleKind given = *static_cast<const HandleKind*>(handle);
  KEYWAY_CHECK_AS(Type, given == kind, "a handle of {} is expected, but this is {}", name, name_of(given));
}

const TensorBase& tensor_of(AtenTensorHandle handle) {
  const TensorBase& tensor = held(handle);
  KEYWAY_CHECK_AS(Type, tensor.defined(), "the tensor is undefined");
  return tensor;
}

}  // namespace keyway::inline v1::abi
