// Handles: what stands behind the opaque pointers of the ABI. Each begins with a word that says what it is, so that a
// handle of another kind, or none, is an error as far as memory can tell.
#pragma once

#include <keyway/core/device/device_guard.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/stable/abi.h>
#include <keyway/stable/abi/errors.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::abi {

class OperatorLibrary;

// Numbers that memory of other things hardly begins with.
enum class HandleKind : std::uint64_t {
  Deleted = 0x6b77646561640000,
  Tensor = 0x6b7774656e730001,
  List = 0x6b776c6973740002,
  String = 0x6b77737472690003,
  Generator = 0x6b7767656e650004,
  Scalar = 0x6b777363616c0005,
  Library = 0x6b776c6962720006,
  DeviceGuard = 0x6b77677561720007,
  Stream = 0x6b77737472650008,
};

// Of each opaque type, what its handles hold.
template <typename Opaque>
struct HandleOf;
#define KEYWAY_ABI_HANDLE(opaque, type, of_kind, text) \
  template <>                                          \
  struct HandleOf<opaque> {                            \
    using Held = type;                                 \
    static constexpr HandleKind kKind = of_kind;       \
    static constexpr const char* kName = text;         \
  }
KEYWAY_ABI_HANDLE(AtenTensorOpaque, TensorBase, HandleKind::Tensor, "a tensor");
KEYWAY_ABI_HANDLE(StableListOpaque, std::vector<StableIValue>, HandleKind::List, "a list");
KEYWAY_ABI_HANDLE(StringOpaque, std::string, HandleKind::String, "a string");
KEYWAY_ABI_HANDLE(AtenGeneratorOpaque, Generator, HandleKind::Generator, "a generator");
KEYWAY_ABI_HANDLE(KeywayScalarOpaque, Scalar, HandleKind::Scalar, "a scalar");
KEYWAY_ABI_HANDLE(TorchLibraryOpaque, OperatorLibrary, HandleKind::Library, "a library");
KEYWAY_ABI_HANDLE(DeviceGuardOpaque, DeviceGuard, HandleKind::DeviceGuard, "a device guard");
KEYWAY_ABI_HANDLE(StreamOpaque, Stream, HandleKind::Stream, "a stream");
#undef KEYWAY_ABI_HANDLE

template <typename Opaque>
struct Handle {
  HandleKind kind = HandleOf<Opaque>::kKind;
  typename HandleOf<Opaque>::Held held;
};

// Throws keyway::Error(Type) if the address is not that of a handle of the kind, as far as can be told.
void check_handle(const void* handle, HandleKind kind, const char* name);

template <typename Opaque, typename... Args>
Opaque* new_handle(Args&&... args) {
  using Held = typename HandleOf<Opaque>::Held;
  return reinterpret_cast<Opaque*>(new Handle<Opaque>{HandleOf<Opaque>::kKind, Held(std::forward<Args>(args)...)});
}

// What a handle holds.
template <typename Opaque>
typename HandleOf<Opaque>::Held& held(Opaque* handle) {
  check_handle(handle, HandleOf<Opaque>::kKind, HandleOf<Opaque>::kName);
  return reinterpret_cast<Handle<Opaque>*>(handle)->held;
}

template <typename Opaque>
void delete_handle(Opaque* handle) {
  held(handle);
  auto* const object = reinterpret_cast<Handle<Opaque>*>(handle);
  *static_cast<volatile HandleKind*>(&object->kind) = HandleKind::Deleted;  // for who uses it again
  delete object;
}

// Gives the caller a new handle.
template <typename Opaque, typename... Args>
void give_handle(Opaque** result, Args&&... args) {
  Opaque*& given = checked(result, "the result");  // before there is one that could be lost
  given = new_handle<Opaque>(std::forward<Args>(args)...);
}

// Deletes a handle of any kind that a slot may hold, and nothing else.
void discard_handle(void* handle) noexcept;

// What the handle of a slot holds. The handle is deleted, also where it is of another kind than expected, which throws.
template <typename Opaque>
typename HandleOf<Opaque>::Held take(Opaque* handle) {
  try {
    held(handle);
  } catch (...) {
    discard_handle(handle);
    throw;
  }
  typename HandleOf<Opaque>::Held value = std::move(held(handle));
  delete_handle(handle);
  return value;
}

// A tensor that must be defined.
const TensorBase& tensor_of(AtenTensorHandle handle);

}  // namespace keyway::inline v1::abi
