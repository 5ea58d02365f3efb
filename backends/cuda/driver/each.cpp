#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/each.h>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/driver/pointwise.h>
#include <keyway/backends/cuda/launch_space.h>

namespace keyway::inline v1::cuda {

void launch_each(const void* kernel, const void* functor, const char* assertion, const IterationSpace& space,
                 Device on) {
  const Stream current = cuda_device_guard().get_stream(on);
  const DeviceAssertTarget note = device_assert_target(assertion, current);
  const char* const origin = space.data[0];
  for_each_part(space, [&](const IterationSpace& part) {
    const LaunchSpace elements = launch_space(part);
    const void* const arguments[] = {functor, &elements, &origin, &note};
    launch_with(kernel, blocks_for(elements.numel, kThreads * kElementsPerThread), kThreads, runtime_stream(current),
                arguments);
  });
}

}  // namespace keyway::inline v1::cuda
