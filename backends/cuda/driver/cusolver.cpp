#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/cusolver.h>
#include <keyway/backends/cuda/driver/toolkit_library.h>
#include <keyway/backends/cuda/driver/with_room.h>
#include <keyway/core/base/error.h>

#include <cusolverDn.h>
#include <fmt/format.h>
#include <mutex>

namespace keyway::inline v1::cuda {

namespace {

// The functions that are used.
#define KEYWAY_CUSOLVER_FUNCTIONS(X) \
  X(cusolverDn, Create)              \
  X(cusolverDn, CreateParams)        \
  X(cusolverDn, SetStream)           \
  X(cusolverDn, Xpotrf)              \
  X(cusolverDn, Xpotrf_bufferSize)   \
  X(cusolverDn, Xgetrf)              \
  X(cusolverDn, Xgetrf_bufferSize)   \
  X(cusolverDn, Xgeqrf)              \
  X(cusolverDn, Xgeqrf_bufferSize)   \
  X(cusolverDn, Xsyevd)              \
  X(cusolverDn, Xsyevd_bufferSize)   \
  X(cusolverDn, Xgesvd)              \
  X(cusolverDn, Xgesvd_bufferSize)   \
  X(cusolverDn, Xgeev)               \
  X(cusolverDn, Xgeev_bufferSize)

// Under their own names without the prefix.
KEYWAY_LIBRARY_TABLE(Cusolver, KEYWAY_CUSOLVER_FUNCTIONS)

const Cusolver& cusolver() {
  static const Cusolver& all = *new Cusolver(fmt::format("libcusolver.so.{}", CUSOLVER_VER_MAJOR));
  KEYWAY_CHECK_AS(NotImplemented, all.problem.empty(),
                  "decompositions of matrices on CUDA need cuSOLVER {}: {}; install it, or name its folder in "
                  "LD_LIBRARY_PATH",
                  CUSOLVER_VER_MAJOR, all.problem);
  return all;
}

ErrorKind kind_of(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_ALLOC_FAILED: return ErrorKind::OutOfMemory;
    case CUSOLVER_STATUS_NOT_SUPPORTED:
    case CUSOLVER_STATUS_ARCH_MISMATCH:
    case CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED: return ErrorKind::NotImplemented;
    default: return ErrorKind::Internal;
  }
}

void check_cusolver(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) [[likely]]
    return;
  throw Error(kind_of(status), fmt::format("cuSOLVER: status {} in {}", static_cast<int>(status), call), __FILE__,
              __LINE__);
}
#define KEYWAY_CUSOLVER_CALL(name, ...) check_cusolver(cusolver().name(__VA_ARGS__), "cusolverDn" #name)

// What it is known as on a device. Its stream is that of one call.
struct CusolverOfDevice {
  std::mutex mutex;
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t parameters = nullptr;
};

cudaDataType_t type_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float: return CUDA_R_32F;
    case ScalarType::Double: return CUDA_R_64F;
    case ScalarType::ComplexFloat: return CUDA_C_32F;
    default: return CUDA_C_64F;
  }
}

cublasFillMode_t triangle(bool upper) { return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER; }
cusolverEigMode_t mode(bool vectors) { return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR; }

// Asks `size(handle, parameters, &on_device, &on_host)` for the bytes that a call needs, and does it:
// `run(handle, parameters, on_device, bytes, on_host, bytes)`.
template <typename Size, typename Run>
void solve(Device device, const Size& size, const Run& run) {
  const Stream stream = cuda_device_guard().get_stream(device);
  refuse_in_capture("a decomposition");
  CusolverOfDevice& here = of_device<CusolverOfDevice>(device);
  const std::lock_guard lock(here.mutex);
  if (here.handle == nullptr) {
    const auto lacks_memory = [](cusolverStatus_t status) { return status == CUSOLVER_STATUS_ALLOC_FAILED; };
    check_cusolver(with_room(device, lacks_memory, [&] { return cusolver().Create(&here.handle); }),
                   "cusolverDnCreate");
  }
  if (here.parameters == nullptr) KEYWAY_CUSOLVER_CALL(CreateParams, &here.parameters);
  KEYWAY_CUSOLVER_CALL(SetStream, here.handle, runtime_stream(stream));
  std::size_t on_device = 0, on_host = 0;
  size(here.handle, here.parameters, &on_device, &on_host);
  const TensorBase device_memory = workspace(on_device, device), host_memory = workspace(on_host, DeviceType::CPU);
  run(here.handle, here.parameters, data_or_null<void>(device_memory), on_device, data_or_null<void>(host_memory),
      on_host);
}

// The same of a function whose arguments are those of its _bufferSize. `device` and `info` are the caller's.
#define KEYWAY_CUSOLVER_SOLVE(name, ...)                                                    \
  solve(                                                                                    \
      device,                                                                               \
      [&](auto handle, auto parameters, auto... bytes) {                                    \
        KEYWAY_CUSOLVER_CALL(name##_bufferSize, handle, parameters, __VA_ARGS__, bytes...); \
      },                                                                                    \
      [&](auto handle, auto parameters, auto... workspaces) {                               \
        KEYWAY_CUSOLVER_CALL(name, handle, parameters, __VA_ARGS__, workspaces..., info);   \
      })

}  // namespace

void cusolver_potrf(bool upper, DeviceMatrix a, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype);
  KEYWAY_CUSOLVER_SOLVE(Xpotrf, triangle(upper), a.rows, type, a.data, a.rows, type);
}

void cusolver_getrf(bool pivot, DeviceMatrix a, std::int64_t* pivots, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype);
  const auto size = [&](auto handle, auto parameters, auto... bytes) {
    KEYWAY_CUSOLVER_CALL(Xgetrf_bufferSize, handle, parameters, a.rows, a.columns, type, a.data, a.rows, type,
                         bytes...);
  };
  const auto run = [&](auto handle, auto parameters, auto... workspaces) {
    KEYWAY_CUSOLVER_CALL(Xgetrf, handle, parameters, a.rows, a.columns, type, a.data, a.rows, pivot ? pivots : nullptr,
                         type, workspaces..., info);
  };
  solve(device, size, run);
}

void cusolver_geqrf(DeviceMatrix a, void* tau, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype);
  KEYWAY_CUSOLVER_SOLVE(Xgeqrf, a.rows, a.columns, type, a.data, a.rows, type, tau, type);
}

void cusolver_syevd(bool upper, bool vectors, DeviceMatrix a, void* values, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype), real = type_of(to_real(a.dtype));
  KEYWAY_CUSOLVER_SOLVE(Xsyevd, mode(vectors), triangle(upper), a.rows, type, a.data, a.rows, real, values, type);
}

void cusolver_gesvd(DeviceMatrix a, void* s, DeviceMatrix u, DeviceMatrix vh, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype), real = type_of(to_real(a.dtype));
  const signed char job = u.data == nullptr ? 'N' : u.columns > a.columns ? 'A' : 'S';
  const signed char right_job = u.data == nullptr ? 'N' : 'A';  // as many as the matrix has columns
  const std::int64_t right_rows = u.data == nullptr ? a.columns : vh.rows;
  KEYWAY_CUSOLVER_SOLVE(Xgesvd, job, right_job, a.rows, a.columns, type, a.data, a.rows, real, s, type, u.data, a.rows,
                        type, vh.data, right_rows, type);
}

void cusolver_geev(DeviceMatrix a, void* values, void* vectors, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype), complex_type = type_of(to_complex(a.dtype));
  KEYWAY_CUSOLVER_SOLVE(Xgeev, mode(false), mode(vectors != nullptr), a.rows, type, a.data, a.rows, complex_type,
                        values, type, nullptr, a.rows, type, vectors, a.rows, type);
}

}  // namespace keyway::inline v1::cuda
