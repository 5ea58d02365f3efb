// In the place of the backend's own: the host cannot call a kernel that it knows nothing of but its address, as the
// runtime can. So it is kept how to call it, by as little code a kernel as can be: there are thousands.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace keyway::inline v1::cuda {

struct KernelSignature {
  void (*call)(const void* kernel, void* const* arguments);  // in one thread
  const std::size_t* sizes;                                  // of the parameters, in bytes
  std::size_t count;
};
[[gnu::visibility("default")]] void remember_kernel(const void* kernel, const KernelSignature& signature);

namespace detail {

template <typename... A>
inline constexpr std::size_t kSizes[] = {sizeof(A)...};

template <typename... A, std::size_t... i>
void call_kernel(const void* kernel, void* const* arguments, std::index_sequence<i...> /*indices*/) {
  reinterpret_cast<void (*)(A...)>(const_cast<void*>(kernel))(*static_cast<A*>(arguments[i])...);
}

}  // namespace detail

template <typename... A>
const void* kernel_address(void (*kernel)(A...)) {
  static_assert((std::is_trivially_copyable_v<A> && ...) && ((alignof(A) <= 64) && ...));
  const auto* const address = reinterpret_cast<const void*>(kernel);
  const auto call = [](const void* known, void* const* arguments) {
    detail::call_kernel<A...>(known, arguments, std::index_sequence_for<A...>());
  };
  remember_kernel(address, {call, detail::kSizes<A...>, sizeof...(A)});
  return address;
}

}  // namespace keyway::inline v1::cuda
