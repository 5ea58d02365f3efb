// What a plug-in and the library that loads it must agree on: how the types lie in memory that inline functions of both
// use and generated code fills in, as one number, and how many virtual functions the interfaces have that one
// implements and the other calls. A plug-in carries both as data: they are compared before its function is called.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard_impl.h>
#include <keyway/core/schema/hash.h>
#include <keyway/core/schema/transform_rules.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/core/tensor/tensor_options.h>
#include <keyway/dispatch/inspect/profiler.h>
#include <keyway/dispatch/registry/library.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Raised by who changes what compiled code relies on and no size, offset or count below tells: what a member, a flag or
// a value means, its type where the size stays, the order of private members or of enumerators, or what an inline
// function does with an object that the library made.
inline constexpr std::uint32_t kPluginRevision = 2;

namespace detail {

// Converts to whatever a member is; in types alone.
struct AnyMember {
  template <typename T>
  constexpr operator T() const noexcept;  // NOLINT(google-explicit-constructor)
};
template <typename T, std::size_t... I>
constexpr bool is_made_of(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyMember{})...}; };
}
// How many members an aggregate has, those in padding too. Requires: none is an array.
template <typename T, std::size_t count = 0>
constexpr std::size_t member_count() {
  if constexpr (is_made_of<T>(std::make_index_sequence<count + 1>())) {
    return member_count<T, count + 1>();
  } else {
    return count;
  }
}

class LayoutHash {
 public:
  constexpr LayoutHash& number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i, value >>= 8) {
      const char byte = static_cast<char>(static_cast<unsigned char>(value));
      hash_.append(std::string_view(&byte, 1));
    }
    return *this;
  }
  constexpr LayoutHash& text(std::string_view text) {
    hash_.append(text);
    return number(text.size());
  }
  template <typename... T>
  constexpr LayoutHash& types() {
    (number(sizeof(T)).number(alignof(T)), ...);
    return *this;
  }
  constexpr LayoutHash& numbers(std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) number(value);
    return *this;
  }
  // How many members an aggregate has, and where they are.
  template <typename T>
  constexpr LayoutHash& members(std::initializer_list<std::uint64_t> offsets) {
    return number(member_count<T>()).numbers(offsets);
  }
  constexpr std::uint32_t value() const { return static_cast<std::uint32_t>(hash_.value() ^ hash_.value() >> 32); }

 private:
  Fnv1a hash_;
};

// The aggregates that generated code fills in, and those that inline functions read by their members' names.
constexpr void add_members(LayoutHash& hash) {
  hash.members<BoxedCallInfo>({offsetof(BoxedCallInfo, tensors), offsetof(BoxedCallInfo, device),
                               offsetof(BoxedCallInfo, arguments), offsetof(BoxedCallInfo, has_results)});
  hash.members<OpInfo>({offsetof(OpInfo, name), offsetof(OpInfo, overload), offsetof(OpInfo, schema),
                        offsetof(OpInfo, file), offsetof(OpInfo, line), offsetof(OpInfo, signature),
                        offsetof(OpInfo, boxed), offsetof(OpInfo, vmap), offsetof(OpInfo, jvp),
                        offsetof(OpInfo, counterpart), offsetof(OpInfo, derived), offsetof(OpInfo, tags),
                        offsetof(OpInfo, doc), offsetof(OpInfo, example), offsetof(OpInfo, saved),
                        offsetof(OpInfo, wrapper), offsetof(OpInfo, served_too)});
  hash.members<KernelInfo>({offsetof(KernelInfo, key), offsetof(KernelInfo, name), offsetof(KernelInfo, file),
                            offsetof(KernelInfo, line), offsetof(KernelInfo, in_flight)});
  hash.members<KernelBase>({offsetof(KernelBase, boxed), offsetof(KernelBase, context), offsetof(KernelBase, index),
                            offsetof(KernelBase, flags)});
  hash.numbers({offsetof(Table, op), offsetof(Table, mask), offsetof(Table, backend_masks), offsetof(Table, info),
                offsetof(Table, kernel_count), offsetof(Table, slots)});
  hash.members<BackendWrapper>({offsetof(BackendWrapper, code), offsetof(BackendWrapper, function)});
  hash.members<TextSpan>({offsetof(TextSpan, begin), offsetof(TextSpan, size)});
  hash.members<TypeNode>({offsetof(TypeNode, kind), offsetof(TypeNode, has_alias), offsetof(TypeNode, child),
                          offsetof(TypeNode, next), offsetof(TypeNode, name), offsetof(TypeNode, alias)});
  hash.members<ArgumentSlot>({offsetof(ArgumentSlot, name), offsetof(ArgumentSlot, default_text),
                              offsetof(ArgumentSlot, type), offsetof(ArgumentSlot, kwarg_only)});
  hash.members<SchemaHeader>(
      {offsetof(SchemaHeader, ns), offsetof(SchemaHeader, name), offsetof(SchemaHeader, overload),
       offsetof(SchemaHeader, arguments), offsetof(SchemaHeader, positional), offsetof(SchemaHeader, returns),
       offsetof(SchemaHeader, nodes), offsetof(SchemaHeader, vararg), offsetof(SchemaHeader, varret)});
  hash.members<ThreadState>({offsetof(ThreadState, included), offsetof(ThreadState, excluded),
                             offsetof(ThreadState, grad_disabled), offsetof(ThreadState, inference),
                             offsetof(ThreadState, autocast)});
}

constexpr std::uint32_t layout_number() {
  LayoutHash hash;
  hash.number(kPluginRevision);
  hash.types<std::string, std::vector<IValue>, std::shared_ptr<int>, std::optional<Scalar>, std::function<void()>>();
  hash.types<TensorImpl, TensorExtra, TensorOptions, StorageImpl, DataPtr, SizesAndStrides, Stream, ThreadState>();
  hash.types<MemoryStats>();
  hash.types<BlockLists, Scalar, Generator, CustomClassHolder, CustomObject, Error, FormatArg, IValue,
             HeapValue<std::int64_t>, HeapValue<std::string>>();
  hash.types<SchemaHeader, ArgumentSlot, TypeNode, FunctionSchema, Argument, SchemaType, DefaultValue>();
  hash.types<KernelBase, ErasedKernel, KernelInfo, Table, OpInfo, OperatorEntry, BackendWrapper, AnyKernel>();
  hash.types<OperatorHandle, ImplRequest, CustomClassInfo, ClassMember, ClassRequest, BlockRequest, Library,
             RegistrationHandle, ObservedCall, CallEvent>();
  add_members(hash);
  for (const TransformRule& rule : kVmapRules) hash.text(rule.name);
  for (const TransformRule& rule : kJvpRules) hash.text(rule.name);
  hash.number(kSlotCount).number(kBackendBits).number(kNumScalarTypes).number(kMaxCachedBlock);
  for (const detail::FunctionalityRow& functionality : detail::kFunctionalities) hash.text(functionality.name);
  hash.number(static_cast<std::uint64_t>(kLastDispatchKey))
      .number(static_cast<std::uint64_t>(ValueTag::TensorListList))
      .text(kTagLetters);
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

using PluginInterfaces = detail::TableEnds<Allocator, AutogradMetaInterface, CallListener, CallObserver,
                                           DeviceGuardImplInterface, GraphImplInterface, DeviceAllocator>;

}  // namespace keyway::inline v1
