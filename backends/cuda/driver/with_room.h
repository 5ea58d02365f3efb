// with_room: calls of libraries that ask a device for memory of their own. The cache may hold all that there is.
// Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/cuda_allocator.h>

namespace keyway::inline v1::cuda {

// What call() returns; where that `lacks_memory`, what it returns once the device has back what is cached.
template <typename LacksMemory, typename Call>
auto with_room(Device device, const LacksMemory& lacks_memory, const Call& call) {
  auto status = call();
  if (lacks_memory(status) && cuda_allocator().make_room(device)) status = call();
  return status;
}

}  // namespace keyway::inline v1::cuda
