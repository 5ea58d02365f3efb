// Operators and loops over the stable C ABI.
#pragma once

#include <keyway/stable/slots.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden)
namespace keyway::stable {

namespace detail {
template <typename R>
struct TakeResults {
  static constexpr std::size_t kCount = 1;
  static R take(const StableIValue* stack) { return Slot<R>::take(stack[0]); }
};
template <>
struct TakeResults<void> {
  static constexpr std::size_t kCount = 0;
  static void take(const StableIValue*) {}
};
template <typename... R>
struct TakeResults<std::tuple<R...>> {
  static constexpr std::size_t kCount = sizeof...(R);
  static std::tuple<R...> take(const StableIValue* stack) { return take_each(stack, std::index_sequence_for<R...>()); }
  template <std::size_t... i>
  static std::tuple<R...> take_each(const StableIValue* stack, std::index_sequence<i...>) {
    return std::tuple<R...>{Slot<R>::take(stack[i])...};
  }
};
}  // namespace detail

// Calls an operator by name. All of its arguments are given, each of its type: call<Tensor>("aten::add", "Tensor", x,
// y, Scalar(1)).
template <typename R, typename... Args>
R call(const char* name, const char* overload, Args... arguments) {
  constexpr std::size_t kSlots = std::max({sizeof...(Args), detail::TakeResults<R>::kCount, std::size_t{1}});
  std::array<StableIValue, kSlots> stack{Slot<Args>::make(std::move(arguments))...};
  check(torch_call_dispatcher(name, overload, stack.data(), KEYWAY_ABI_VERSION));
  return detail::TakeResults<R>::take(stack.data());
}

// A new tensor whose elements have no values yet.
inline Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device = {}) {
  return call<Tensor>("aten::empty", "memory_format", std::vector<std::int64_t>(sizes.begin(), sizes.end()),
                      std::optional<ScalarType>(dtype), std::optional<Layout>(), std::optional<Device>(device),
                      std::optional<bool>(), std::optional<MemoryFormat>());
}
inline Tensor empty_like(const Tensor& self) {
  return call<Tensor>("aten::empty_like", "", self, std::optional<ScalarType>(), std::optional<Layout>(),
                      std::optional<Device>(), std::optional<bool>(), std::optional<MemoryFormat>());
}
inline Tensor contiguous(const Tensor& self) { return call<Tensor>("aten::contiguous", "", self, kContiguous); }

// A tensor over memory of the caller; `release` is called once nothing refers to it.
template <typename F>
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device, F release) {
  auto held = std::make_unique<F>(std::move(release));
  const auto deleter = [](void*, void* context) {
    const std::unique_ptr<F> function(static_cast<F*>(context));
    (*function)();
  };
  AtenTensorHandle handle = nullptr;
  check(torch_from_blob(data, static_cast<std::int64_t>(sizes.size()), sizes.data(), strides.data(), 0, dtype.number,
                        device.type.number, device.index, &handle, kStrided.number, nullptr, 0, deleter, held.get()));
  static_cast<void>(held.release());
  return Tensor(handle);
}

// Calls f(begin, end) for parts of a range, from several threads; f throws nothing.
template <typename F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const F& f) {
  const auto part = [](std::int64_t first, std::int64_t last, void* context) {
    (*static_cast<const F*>(context))(first, last);
  };
  check(torch_parallel_for(begin, end, grain, part, const_cast<void*>(static_cast<const void*>(&f))));
}

}  // namespace keyway::stable
#pragma GCC visibility pop
