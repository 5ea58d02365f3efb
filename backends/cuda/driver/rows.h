// The part of the driver rows() that is compiled once. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/device_assert_target.h>
#include <keyway/backends/cuda/row_space.h>

namespace keyway::inline v1::cuda {

// `kernel` is one of (functor, RowLaunch, DeviceAssertTarget). On the current stream of `on`.
void launch_rows(const void* kernel, const void* functor, const char* assertion, const RowSpace& row_space, Device on);

}  // namespace keyway::inline v1::cuda
