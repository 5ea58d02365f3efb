// What a plug-in and the library that loads it must agree on: how the types lie in memory that inline functions of both
// use, as one number, and how many virtual functions the interfaces have that one implements and the other calls.
// A plug-in carries both as data: they are compared before its function is called.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/device_guard_impl.h>
#include <keyway/core/memory_cache.h>
#include <keyway/core/schema/hash.h>
#include <keyway/core/tensor_options.h>
#include <keyway/dispatch/library.h>
#include <keyway/dispatch/profiler.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace keyway::inline v1 {

namespace detail {

class LayoutHash {
 public:
  constexpr LayoutHash& number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i, value >>= 8) {
      const char byte = static_cast<char>(static_cast<unsigned char>(value));
      hash_.append(std::string_view(&byte, 1));
    }
    return *this;
  }
  template <typename... T>
  constexpr LayoutHash& types() {
    (number(sizeof(T)).number(alignof(T)), ...);
    return *this;
  }
  constexpr std::uint32_t value() const { return static_cast<std::uint32_t>(hash_.value() ^ hash_.value() >> 32); }

 private:
  Fnv1a hash_;
};

constexpr std::uint32_t layout_number() {
  LayoutHash hash;
  hash.types<std::string, std::vector<IValue>, std::shared_ptr<int>, std::optional<Scalar>, std::function<void()>>();
  hash.types<TensorImpl, TensorExtra, TensorOptions, StorageImpl, DataPtr, SizesAndStrides, Stream, ThreadState>();
  hash.types<MemoryStats>();
  hash.types<BlockLists, Scalar, Generator, Error, FormatArg, IValue, HeapValue<std::int64_t>,
             HeapValue<std::string>>();
  hash.types<SchemaHeader, ArgumentSlot, TypeNode, FunctionSchema, Argument, SchemaType, DefaultValue>();
  hash.types<KernelBase, ErasedKernel, KernelInfo, Table, OpInfo, OperatorEntry, BackendWrapper, AnyKernel>();
  hash.types<OperatorHandle, ImplRequest, LibraryRequest, Library, RegistrationHandle, ObservedCall, CallEvent>();
  hash.number(offsetof(Table, mask)).number(offsetof(Table, slots)).number(offsetof(KernelInfo, owner));
  hash.number(offsetof(OpInfo, signature)).number(offsetof(OpInfo, boxed)).number(offsetof(OpInfo, wrapper));
  hash.number(kSlotCount).number(kBackendBits).number(kNumScalarTypes).number(kMaxCachedBlock);
  hash.number(static_cast<std::uint64_t>(DispatchKey::CompositeImplicitAutograd))
      .number(static_cast<std::uint64_t>(ValueTag::TensorListList));
  hash.number(static_cast<std::uint64_t>(ErrorKind::Internal));
  return hash.value();
}

// A function that would stand behind the last one of an interface: where it stands, a pointer to it says.
template <typename Interface>
class BehindLast : public Interface {
 public:
  virtual void behind_last() = 0;

 protected:
  ~BehindLast() = default;
};
template <typename... Interfaces>
struct TableEnds {
  std::tuple<void (BehindLast<Interfaces>::*)()...> ends{&BehindLast<Interfaces>::behind_last...};
  friend bool operator==(const TableEnds&, const TableEnds&) = default;
};

}  // namespace detail

inline constexpr std::uint32_t kPluginAbi = detail::layout_number();

using PluginInterfaces = detail::TableEnds<Allocator, AutogradMeta, CallListener, CallObserver,
                                           DeviceGuardImplInterface, GraphImplInterface, MemoryCache>;

}  // namespace keyway::inline v1
