// In the place of the backend's own: the host cannot call a kernel that it knows nothing of but its address, as the
// runtime can. So the types of its parameters are kept.
#pragma once

#include <functional>
#include <tuple>
#include <utility>

namespace keyway::inline v1::cuda {

// A call of a kernel by one thread, with copies of the arguments.
using BoundKernel = std::function<void()>;
using BindKernel = BoundKernel (*)(const void* kernel, void** arguments);
void remember_kernel(const void* kernel, BindKernel bind);

template <typename... A>
const void* kernel_address(void (*kernel)(A...)) {
  const auto* const address = reinterpret_cast<const void*>(kernel);
  remember_kernel(address, [](const void* known, void** arguments) -> BoundKernel {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return [call = reinterpret_cast<void (*)(A...)>(const_cast<void*>(known)),
              all = std::tuple<A...>(*static_cast<const A*>(arguments[i])...)] { std::apply(call, all); };
    }
    (std::index_sequence_for<A...>());
  });
  return address;
}

}  // namespace keyway::inline v1::cuda
