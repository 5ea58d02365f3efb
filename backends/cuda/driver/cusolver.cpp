#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/cusolver.h>
#include <keyway/backends/cuda/driver/devices.h>
#include <keyway/backends/cuda/driver/shared_library.h>
#include <keyway/backends/cuda/driver/with_room.h>
#include <keyway/core/base/error.h>
#include <keyway/core/tensor/tensor_base.h>

#include <array>
#include <cusolverDn.h>
#include <fmt/format.h>
#include <mutex>
#include <string>

namespace keyway::inline v1::cuda {

namespace {

// The functions that are used.
#define KEYWAY_CUSOLVER_FUNCTIONS    \
  KEYWAY_CUSOLVER(Create)            \
  KEYWAY_CUSOLVER(CreateParams)      \
  KEYWAY_CUSOLVER(SetStream)         \
  KEYWAY_CUSOLVER(Xpotrf)            \
  KEYWAY_CUSOLVER(Xpotrf_bufferSize) \
  KEYWAY_CUSOLVER(Xgetrf)            \
  KEYWAY_CUSOLVER(Xgetrf_bufferSize) \
  KEYWAY_CUSOLVER(Xgeqrf)            \
  KEYWAY_CUSOLVER(Xgeqrf_bufferSize) \
  KEYWAY_CUSOLVER(Xsyevd)            \
  KEYWAY_CUSOLVER(Xsyevd_bufferSize) \
  KEYWAY_CUSOLVER(Xgesvd)            \
  KEYWAY_CUSOLVER(Xgesvd_bufferSize) \
  KEYWAY_CUSOLVER(Xgeev)             \
  KEYWAY_CUSOLVER(Xgeev_bufferSize)

// Under their own names without the prefix.
struct Cusolver {
#define KEYWAY_CUSOLVER(name) decltype(&cusolverDn##name) name = nullptr;
  KEYWAY_CUSOLVER_FUNCTIONS
#undef KEYWAY_CUSOLVER
  std::string problem;  // empty if all are there
};

Cusolver open_cusolver() {
  LibraryFunctions<ToolkitLibrary> library(fmt::format("libcusolver.so.{}", CUSOLVER_VER_MAJOR));
  Cusolver all;
#define KEYWAY_CUSOLVER(name) library.find("cusolverDn" #name, all.name);
  KEYWAY_CUSOLVER_FUNCTIONS
#undef KEYWAY_CUSOLVER
  all.problem = library.problem();
  return all;
}

const Cusolver& cusolver() {
  static const Cusolver& all = *new Cusolver(open_cusolver());
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

CusolverOfDevice& cusolver_of(Device device) {
  static auto& all = *new std::array<CusolverOfDevice, kMaxDevices>;
  return all[static_cast<std::size_t>(device.index())];
}

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
  CusolverOfDevice& here = cusolver_of(device);
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
  const auto memory = [](std::size_t bytes, Device on) {
    return bytes == 0 ? TensorBase() : make_tensor({static_cast<std::int64_t>(bytes)}, kByte, on);
  };
  const TensorBase device_memory = memory(on_device, device), host_memory = memory(on_host, DeviceType::CPU);
  const auto address = [](const TensorBase& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; };
  run(here.handle, here.parameters, address(device_memory), on_device, address(host_memory), on_host);
}

}  // namespace

void cusolver_potrf(bool upper, DeviceMatrix a, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype);
  const auto size = [&](auto handle, auto parameters, auto... bytes) {
    KEYWAY_CUSOLVER_CALL(Xpotrf_bufferSize, handle, parameters, triangle(upper), a.rows, type, a.data, a.rows, type,
                         bytes...);
  };
  const auto run = [&](auto handle, auto parameters, auto... workspaces) {
    KEYWAY_CUSOLVER_CALL(Xpotrf, handle, parameters, triangle(upper), a.rows, type, a.data, a.rows, type, workspaces...,
                         info);
  };
  solve(device, size, run);
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
  const auto size = [&](auto handle, auto parameters, auto... bytes) {
    KEYWAY_CUSOLVER_CALL(Xgeqrf_bufferSize, handle, parameters, a.rows, a.columns, type, a.data, a.rows, type, tau,
                         type, bytes...);
  };
  const auto run = [&](auto handle, auto parameters, auto... workspaces) {
    KEYWAY_CUSOLVER_CALL(Xgeqrf, handle, parameters, a.rows, a.columns, type, a.data, a.rows, type, tau, type,
                         workspaces..., info);
  };
  solve(device, size, run);
}

void cusolver_syevd(bool upper, bool vectors, DeviceMatrix a, void* values, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype), real = type_of(to_real(a.dtype));
  const auto size = [&](auto handle, auto parameters, auto... bytes) {
    KEYWAY_CUSOLVER_CALL(Xsyevd_bufferSize, handle, parameters, mode(vectors), triangle(upper), a.rows, type, a.data,
                         a.rows, real, values, type, bytes...);
  };
  const auto run = [&](auto handle, auto parameters, auto... workspaces) {
    KEYWAY_CUSOLVER_CALL(Xsyevd, handle, parameters, mode(vectors), triangle(upper), a.rows, type, a.data, a.rows, real,
                         values, type, workspaces..., info);
  };
  solve(device, size, run);
}

void cusolver_gesvd(DeviceMatrix a, void* s, DeviceMatrix u, DeviceMatrix vh, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype), real = type_of(to_real(a.dtype));
  const signed char job = u.data == nullptr ? 'N' : u.columns > a.columns ? 'A' : 'S';
  const signed char right_job = u.data == nullptr ? 'N' : 'A';  // as many as the matrix has columns
  const std::int64_t right_rows = u.data == nullptr ? a.columns : vh.rows;
  const auto size = [&](auto handle, auto parameters, auto... bytes) {
    KEYWAY_CUSOLVER_CALL(Xgesvd_bufferSize, handle, parameters, job, right_job, a.rows, a.columns, type, a.data, a.rows,
                         real, s, type, u.data, a.rows, type, vh.data, right_rows, type, bytes...);
  };
  const auto run = [&](auto handle, auto parameters, auto... workspaces) {
    KEYWAY_CUSOLVER_CALL(Xgesvd, handle, parameters, job, right_job, a.rows, a.columns, type, a.data, a.rows, real, s,
                         type, u.data, a.rows, type, vh.data, right_rows, type, workspaces..., info);
  };
  solve(device, size, run);
}

void cusolver_geev(DeviceMatrix a, void* values, void* vectors, std::int32_t* info, Device device) {
  const cudaDataType_t type = type_of(a.dtype), complex_type = type_of(to_complex(a.dtype));
  const auto size = [&](auto handle, auto parameters, auto... bytes) {
    KEYWAY_CUSOLVER_CALL(Xgeev_bufferSize, handle, parameters, mode(false), mode(vectors != nullptr), a.rows, type,
                         a.data, a.rows, complex_type, values, type, nullptr, a.rows, type, vectors, a.rows, type,
                         bytes...);
  };
  const auto run = [&](auto handle, auto parameters, auto... workspaces) {
    KEYWAY_CUSOLVER_CALL(Xgeev, handle, parameters, mode(false), mode(vectors != nullptr), a.rows, type, a.data, a.rows,
                         complex_type, values, type, nullptr, a.rows, type, vectors, a.rows, type, workspaces..., info);
  };
  solve(device, size, run);
}

}  // namespace keyway::inline v1::cuda
