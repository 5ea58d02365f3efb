// In the place of cusolver.cpp where there was no cusolverDn.h to build it with.
#include <keyway/backends/cuda/driver/cusolver.h>
#include <keyway/core/base/error.h>

namespace keyway::inline v1::cuda {

namespace {

[[noreturn]] void refuse() {
  KEYWAY_FAIL(NotImplemented,
              "this CUDA backend was built without the headers of cuSOLVER, which decompositions of matrices need");
}

}  // namespace

void cusolver_potrf(bool, DeviceMatrix, std::int32_t*, Device) { refuse(); }
void cusolver_getrf(bool, DeviceMatrix, std::int64_t*, std::int32_t*, Device) { refuse(); }
void cusolver_geqrf(DeviceMatrix, void*, std::int32_t*, Device) { refuse(); }
void cusolver_syevd(bool, bool, DeviceMatrix, void*, std::int32_t*, Device) { refuse(); }
void cusolver_gesvd(DeviceMatrix, void*, DeviceMatrix, DeviceMatrix, std::int32_t*, Device) { refuse(); }
void cusolver_geev(DeviceMatrix, void*, void*, std::int32_t*, Device) { refuse(); }

}  // namespace keyway::inline v1::cuda
