// kernel_address: what the runtime knows a kernel by. A header of its own, so that the tests' emulated device can have
// another one in its place. Internal to backends/cuda.
#pragma once

namespace keyway::inline v1::cuda {

template <typename... A>
const void* kernel_address(void (*kernel)(A...)) {
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace keyway::inline v1::cuda
