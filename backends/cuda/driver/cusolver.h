// cuSOLVER, NVIDIA's library of decompositions, opened when the first one is asked for. Internal to backends/cuda.
//
// Each call is one column-major matrix of float32, float64, complex64 or complex128, in the current stream of the
// device, with workspaces of its own; `info` is written on the device as LAPACK would. Requires: `device` is current;
// no matrix is empty; everything that is written lies there. Throws keyway::Error: NotImplemented where the library is
// not installed, or was not when this was built; Value while this thread captures a graph; else one that names the
// library's call that failed.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/core/dtype/scalar_type.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// Element (i, j) is data[i + j * rows].
struct DeviceMatrix {
  ScalarType dtype;
  void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

void cusolver_potrf(bool upper, DeviceMatrix a, std::int32_t* info, Device device);
void cusolver_getrf(bool pivot, DeviceMatrix a, std::int64_t* pivots, std::int32_t* info, Device device);
void cusolver_geqrf(DeviceMatrix a, void* tau, std::int32_t* info, Device device);
// Eigenvectors, if wanted, take the place of the matrix.
void cusolver_syevd(bool upper, bool vectors, DeviceMatrix a, void* values, std::int32_t* info, Device device);
// Destroys `a`. Without data, u and vh are not wanted. Requires: a has at least as many rows as columns.
void cusolver_gesvd(DeviceMatrix a, void* s, DeviceMatrix u, DeviceMatrix vh, std::int32_t* info, Device device);
// Destroys `a`. `values` are complex; `vectors`, unless null, are of a's dtype, pairs of columns being the parts of
// conjugate ones where that is real.
void cusolver_geev(DeviceMatrix a, void* values, void* vectors, std::int32_t* info, Device device);

}  // namespace keyway::inline v1::cuda
