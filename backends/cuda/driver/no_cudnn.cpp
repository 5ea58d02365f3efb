// In the place of cudnn.cpp where there was no cudnn.h to build it with.
#include <keyway/backends/cuda/driver/cudnn.h>
#include <keyway/core/base/error.h>

namespace keyway::inline v1::cuda {

bool cudnn_has(const ConvProblem&, Device) { return false; }

bool cudnn_convolution(const ConvProblem&, void*, void*, void*, Device) {
  KEYWAY_FAIL(Internal, "cuDNN is asked for a convolution that it does not have");
}

}  // namespace keyway::inline v1::cuda
