// The libraries of the toolkit, each opened when it is first needed. A header of its own, so that the tests' emulated
// device can have another one in its place. Internal to backends/cuda.
#pragma once

#include <keyway/core/base/shared_library.h>

namespace keyway::inline v1::cuda {

using ToolkitLibrary = SharedLibrary;

}  // namespace keyway::inline v1::cuda
