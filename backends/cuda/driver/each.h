// The part of the driver each() that is compiled once. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/device_assert_target.h>
#include <keyway/core/tensor/iteration_space.h>

namespace keyway::inline v1::cuda {

// `kernel` is one of (functor, LaunchSpace, origin, DeviceAssertTarget). On the current stream of `on`.
void launch_each(const void* kernel, const void* functor, const char* assertion, const IterationSpace& space,
                 Device on);

}  // namespace keyway::inline v1::cuda
