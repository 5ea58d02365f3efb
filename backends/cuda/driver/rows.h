// The part of the driver rows() that is compiled once. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/refusal_note.h>
#include <keyway/backends/cuda/row_places.h>

namespace keyway::inline v1::cuda {

// `kernel` is one of (functor, RowLaunch, RefusalNote). On the current stream of `on`.
void launch_rows(const void* kernel, const void* functor, const char* refusal, const RowPlaces& places, Device on);

}  // namespace keyway::inline v1::cuda
