// Slots of the stable C ABI as values of C++, by their types.
#pragma once

#include <keyway/stable/tensor.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden)
namespace keyway::stable {

// Slot<T>::make(value) gives a slot away; Slot<T>::take(slot) empties one.
template <typename T>
struct Slot {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(StableIValue),
                "a value of this type has no slot: kernels take std::int64_t, double, bool, std::string, std::vector, "
                "std::optional and the types of <keyway/stable/types.h> and <keyway/stable/tensor.h>");
  static_assert(!std::is_same_v<T, int> && !std::is_same_v<T, float>, "kernels take std::int64_t and double");
  static StableIValue make(T value) {
    StableIValue slot = 0;
    std::memcpy(&slot, &value, sizeof(value));
    return slot;
  }
  static T take(StableIValue slot) {
    T value{};
    std::memcpy(&value, &slot, sizeof(value));
    return value;
  }
};

namespace detail {
template <typename Handle>
StableIValue slot_of(Handle handle) {
  return reinterpret_cast<StableIValue>(handle);
}
template <typename Handle>
Handle handle_in(StableIValue slot) {
  return reinterpret_cast<Handle>(slot);
}
}  // namespace detail

template <>
struct Slot<Tensor> {
  static StableIValue make(Tensor tensor) {
    if (tensor.get() == nullptr) return detail::slot_of(get<AtenTensorHandle>(aoti_torch_new_uninitialized_tensor));
    return detail::slot_of(std::move(tensor).release());
  }
  static Tensor take(StableIValue slot) { return Tensor(detail::handle_in<AtenTensorHandle>(slot)); }
};

template <>
struct Slot<Device> {
  static StableIValue make(Device device) {
    return StableIValue{static_cast<std::uint32_t>(device.type.number)} << 32 |
           static_cast<std::uint32_t>(device.index);
  }
  static Device take(StableIValue slot) {
    return {DeviceType{static_cast<std::int32_t>(slot >> 32)}, static_cast<std::int32_t>(slot & 0xffffffffU)};
  }
};

template <>
struct Slot<Scalar> {
  static StableIValue make(const Scalar& scalar) { return detail::slot_of(scalar.handle()); }
  static Scalar take(StableIValue slot) { return Scalar(detail::handle_in<KeywayScalarHandle>(slot)); }
};
template <>
struct Slot<std::complex<double>> {
  static StableIValue make(std::complex<double> value) { return Slot<Scalar>::make(Scalar(value)); }
  static std::complex<double> take(StableIValue slot) { return Slot<Scalar>::take(slot).to_complex(); }
};

template <>
struct Slot<Generator> {
  static StableIValue make(const Generator& generator) {
    return detail::slot_of(get<AtenGeneratorHandle>(torch_new_generator_handle, generator.get()));
  }
  static Generator take(StableIValue slot) { return Generator(detail::handle_in<AtenGeneratorHandle>(slot)); }
};

template <>
struct Slot<std::string> {
  static StableIValue make(const std::string& text) {
    return detail::slot_of(get<StringHandle>(torch_new_string_handle, text.data(), text.size()));
  }
  static std::string take(StableIValue slot) {
    const StringHandle handle = detail::handle_in<StringHandle>(slot);
    const std::unique_ptr<StringOpaque, void (*)(StringHandle)> owned(
        handle, [](StringHandle string) { torch_delete_string(string); });
    return {get<const char*>(torch_string_c_str, handle), get<std::size_t>(torch_string_length, handle)};
  }
};

template <typename T>
struct Slot<std::optional<T>> {
  static StableIValue make(std::optional<T> value) {
    if (!value) return 0;
    StableIValue* const slot = get<StableIValue*>(torch_new_stable_ivalue);
    *slot = Slot<T>::make(std::move(*value));
    return detail::slot_of(slot);
  }
  static std::optional<T> take(StableIValue slot) {
    if (slot == 0) return std::nullopt;
    StableIValue* const inner = detail::handle_in<StableIValue*>(slot);
    const StableIValue value = *inner;
    check(torch_delete_stable_ivalue(inner));
    return Slot<T>::take(value);
  }
};

template <typename T>
struct Slot<std::vector<T>> {
  static StableIValue make(const std::vector<T>& items) {
    const StableListHandle list = get<StableListHandle>(torch_new_list_reserve_size, items.size());
    for (const T& item : items) check(torch_list_push_back(list, Slot<T>::make(item)));
    return detail::slot_of(list);
  }
  static std::vector<T> take(StableIValue slot) {
    const StableListHandle list = detail::handle_in<StableListHandle>(slot);
    const std::unique_ptr<StableListOpaque, void (*)(StableListHandle)> owned(
        list, [](StableListHandle items) { torch_delete_list(items); });
    std::vector<T> items;
    const auto size = get<std::size_t>(torch_list_size, list);
    items.reserve(size);
    for (std::size_t i = 0; i < size; ++i)
      items.push_back(Slot<T>::take(get<StableIValue>(torch_list_get_item, list, i)));
    return items;
  }
};

}  // namespace keyway::stable
#pragma GCC visibility pop
