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

// Whether a handle may stand there at all.
bool is_address(const void* handle) {
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  return address >= kFirstPage && address % alignof(HandleKind) == 0;
}

}  // namespace

void discard_handle(void* handle) noexcept {
  if (!is_address(handle)) return;
  switch (*static_cast<const HandleKind*>(handle)) {
    case HandleKind::Tensor: return delete_handle(reinterpret_cast<AtenTensorHandle>(handle));
    case HandleKind::List: return delete_handle(reinterpret_cast<StableListHandle>(handle));
    case HandleKind::String: return delete_handle(reinterpret_cast<StringHandle>(handle));
    case HandleKind::Generator: return delete_handle(reinterpret_cast<AtenGeneratorHandle>(handle));
    case HandleKind::Scalar: return delete_handle(reinterpret_cast<KeywayScalarHandle>(handle));
    default: return;
  }
}

void check_handle(const void* handle, HandleKind kind, const char* name) {
  KEYWAY_CHECK_AS(Type, handle != nullptr, "the handle of {} is null", name);
  KEYWAY_CHECK_AS(Type, is_address(handle), "{} is no handle of {}", reinterpret_cast<std::uint64_t>(handle), name);
  const HandleKind given = *static_cast<const HandleKind*>(handle);
  KEYWAY_CHECK_AS(Type, given == kind, "a handle of {} is expected, but this is {}", name, name_of(given));
}

const TensorBase& tensor_of(AtenTensorHandle handle) {
  const TensorBase& tensor = held(handle);
  KEYWAY_CHECK_AS(Type, tensor.defined(), "the tensor is undefined");
  return tensor;
}

}  // namespace keyway::inline v1::abi
