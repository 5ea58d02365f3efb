// In the place of cufft.cpp where there was no cufft.h to build it with.
#include <keyway/backends/cuda/driver/cufft.h>
#include <keyway/core/base/error.h>

namespace keyway::inline v1::cuda {

void cufft_transform(const FourierProblem&, void*, void*, bool, Device) {
  KEYWAY_FAIL(NotImplemented,
              "this CUDA backend was built without the headers of cuFFT, which Fourier transforms need");
}

}  // namespace keyway::inline v1::cuda
