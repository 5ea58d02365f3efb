#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/call/boxing.h>
#include <keyway/stable/abi/handles.h>
#include <keyway/stable/abi/slots.h>

#include <bit>
#include <limits>
#include <memory>
#include <optional>

namespace keyway::inline v1::abi {

namespace {

template <typename Opaque>
Opaque* handle_in(StableIValue slot) {
  return reinterpret_cast<Opaque*>(slot);
}
template <typename Opaque>
StableIValue slot_of(Opaque* handle) {
  return reinterpret_cast<StableIValue>(handle);
}

// The low half of a slot, as an int32_t of the getters.
std::int32_t number_in(StableIValue slot) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(slot)); }

// The slot of an optional value that is there: its memory is the caller's now.
StableIValue take_optional(StableIValue slot) {
  KEYWAY_CHECK_AS(Type, slot % alignof(StableIValue) == 0 && slot >= alignof(std::max_align_t),
                  "{} is no address of a slot", slot);
  const std::unique_ptr<StableIValue> owned(reinterpret_cast<StableIValue*>(slot));
  return *owned;
}

// PyTorch's C ABI has no slot for objects of registered classes.
template <typename T>
constexpr bool kHasSlot = !std::is_same_v<T, CustomObject>;
template <typename T>
constexpr bool kHasSlot<std::optional<T>> = kHasSlot<T>;
template <typename T>
constexpr bool kHasSlot<std::vector<T>> = kHasSlot<T>;

// Values of the classes of value_class.h. Lists of tensors that may be absent are told by their type alone.
template <typename T>
T value_in(StableIValue slot) {
  if constexpr (std::is_same_v<T, TensorBase>) {
    return take(handle_in<AtenTensorOpaque>(slot));
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return static_cast<std::int64_t>(slot);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(slot);
  } else if constexpr (std::is_same_v<T, bool>) {
    KEYWAY_CHECK_AS(Type, slot <= 1, "{} is no bool, which is 0 or 1", slot);
    return slot != 0;
  } else if constexpr (std::is_same_v<T, Scalar>) {
    return take(handle_in<KeywayScalarOpaque>(slot));
  } else if constexpr (std::is_same_v<T, complex<double>>) {
    return take(handle_in<KeywayScalarOpaque>(slot)).to<complex<double>>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return take(handle_in<StringOpaque>(slot));
  } else if constexpr (std::is_same_v<T, Generator>) {
    return take(handle_in<AtenGeneratorOpaque>(slot));
  } else if constexpr (std::is_same_v<T, ScalarType>) {
    return dtype_of(number_in(slot));
  } else if constexpr (std::is_same_v<T, Layout>) {
    return layout_of(number_in(slot));
  } else if constexpr (std::is_same_v<T, MemoryFormat>) {
    return memory_format_of(number_in(slot));
  } else if constexpr (std::is_same_v<T, Device>) {
    return device_of(number_in(slot >> 32), number_in(slot));
  } else if constexpr (detail::kIsOptional<T>) {
    if (slot == 0) return std::nullopt;
    return value_in<typename T::value_type>(take_optional(slot));
  } else {
    static_assert(detail::kIsVector<T>);
    const std::vector<StableIValue> items = take(handle_in<StableListOpaque>(slot));
    T values;
    values.reserve(items.size());
    for_each_index(items.size(), [&](std::size_t i) { values.push_back(value_in<typename T::value_type>(items[i])); });
    return values;
  }
}

template <typename T>
StableIValue slot_with(const T& value) {
  if constexpr (std::is_same_v<T, TensorBase>) {
    return slot_of(new_handle<AtenTensorOpaque>(value));
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return static_cast<StableIValue>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<StableIValue>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else if constexpr (std::is_same_v<T, Scalar> || std::is_same_v<T, complex<double>>) {
    return slot_of(new_handle<KeywayScalarOpaque>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return slot_of(new_handle<StringOpaque>(value));
  } else if constexpr (std::is_same_v<T, Generator>) {
    return slot_of(new_handle<AtenGeneratorOpaque>(value));
  } else if constexpr (std::is_same_v<T, Device>) {
    const auto type = static_cast<std::uint32_t>(value.type()), index = static_cast<std::uint32_t>(value.index());
    return StableIValue{type} << 32 | index;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::uint32_t>(value);
  } else if constexpr (detail::kIsOptional<T>) {
    return value ? reinterpret_cast<StableIValue>(new StableIValue(slot_with(*value))) : 0;
  } else {
    static_assert(detail::kIsVector<T>);
    StableListOpaque* const list = new_handle<StableListOpaque>();
    std::vector<StableIValue>& items = held(list);
    items.reserve(value.size());
    for (const typename T::value_type& item : value) items.push_back(slot_with<typename T::value_type>(item));
    return slot_of(list);
  }
}

// Calls f.operator()<T>() for the class of a type's values.
template <typename F>
void visit_type(SchemaType type, const F& f) {
  SignatureCode code;
  bool found = append_code(code, type);
  if (found) {
    const std::string_view letters = code.view() == "W" ? "T" : code.view();
    const bool visited = detail::visit_value_class(detail::tag_of_code(letters), [&]<typename T>() {
      if constexpr (kHasSlot<T>) {
        f.template operator()<T>();
      } else {
        found = false;
      }
    });
    found = found && visited;
  }
  if (!found) KEYWAY_FAIL(NotImplemented, "the stable C ABI has no slot for the type {}", to_string(type));
}

bool is_list_of_absent_tensors(SchemaType type) {
  return type.is(TypeKind::List) && type.element().is(TypeKind::Optional) &&
         type.element().element().is(TypeKind::Tensor);
}

}  // namespace

IValue take_slot(SchemaType type, StableIValue slot) {
  if (type.is(TypeKind::Optional)) {
    if (slot != 0) return take_slot(type.element(), take_optional(slot));
    return type.element().is(TypeKind::Tensor) ? IValue(TensorBase()) : IValue();
  }
  if (is_list_of_absent_tensors(type)) {
    std::vector<TensorBase> tensors;
    for (std::optional<TensorBase>& tensor : value_in<std::vector<std::optional<TensorBase>>>(slot))
      tensors.push_back(tensor ? std::move(*tensor) : TensorBase());
    return IValue(std::move(tensors));
  }
  IValue value;
  visit_type(type, [&]<typename T>() { value = detail::box(value_in<T>(slot)); });
  return value;
}

StableIValue make_slot(SchemaType type, IValue value) {
  if (type.is(TypeKind::Optional)) {
    const bool absent = value.is_none() || (value.is_tensor() && !value.tensor_ref().defined());
    if (absent) return 0;
    auto inner = std::make_unique<StableIValue>();
    *inner = make_slot(type.element(), std::move(value));
    return reinterpret_cast<StableIValue>(inner.release());
  }
  if (is_list_of_absent_tensors(type)) {
    std::vector<std::optional<TensorBase>> tensors;
    for (const TensorBase& tensor : value.to_tensor_list())
      tensors.push_back(tensor.defined() ? std::optional(tensor) : std::nullopt);
    return slot_with(tensors);
  }
  StableIValue slot = 0;
  visit_type(type, [&]<typename T>() { slot = slot_with<T>(detail::unbox_result<T>(value)); });
  return slot;
}

ScalarType dtype_of(std::int64_t number) {
  KEYWAY_CHECK(number >= 0 && number < static_cast<std::int64_t>(kNumScalarTypes), "{} is no dtype", number);
  return static_cast<ScalarType>(number);
}

Layout layout_of(std::int64_t number) {
  constexpr std::int64_t kOpaque = 3;  // oneDNN's
  KEYWAY_CHECK(number >= 0 && number <= static_cast<std::int64_t>(Layout::Jagged) && number != kOpaque,
               "{} is no layout", number);
  return static_cast<Layout>(number);
}

MemoryFormat memory_format_of(std::int64_t number) {
  KEYWAY_CHECK(number >= 0 && number <= static_cast<std::int64_t>(MemoryFormat::ChannelsLast3d),
               "{} is no memory format", number);
  return static_cast<MemoryFormat>(number);
}

Device device_of(std::int64_t type, std::int64_t index) {
  KEYWAY_CHECK(type >= 0 && type < kNumDeviceTypes, "{} is no device type that Keyway has", type);
  KEYWAY_CHECK(index >= -1 && index <= std::numeric_limits<std::int8_t>::max(), "{} is no index of a device", index);
  return Device(static_cast<DeviceType>(type), static_cast<std::int8_t>(index));
}

}  // namespace keyway::inline v1::abi
