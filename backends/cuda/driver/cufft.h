// cuFFT, NVIDIA's library of Fourier transforms, opened when the first one is asked for. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/fourier_problem.h>
#include <keyway/core/device/device.h>

namespace keyway::inline v1::cuda {

// Computes it in the current stream of the device, not scaled; `from` may be `to`. The plan is kept for the next time;
// memory that it works in is the caching allocator's. Requires: `device` is current; both are row-major complex
// numbers of the problem's sizes, aligned as their dtype. Throws keyway::Error: NotImplemented where the library is not
// installed or was not when this was built, else one that names the library's call that failed.
void cufft_transform(const FourierProblem& problem, void* from, void* to, bool forward, Device device);

}  // namespace keyway::inline v1::cuda
