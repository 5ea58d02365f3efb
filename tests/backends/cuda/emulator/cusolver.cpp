// The emulated cuSOLVER: LAPACK's decompositions, done when somebody waits for the stream. Where the real one would
// write to memory that nobody gave it, or work on another device, it stops the program.
// KEYWAY_EMULATED_CUSOLVER=missing takes it away (shared_library.h), =broken lets each call fail.
#include <keyway/backends/cpu/lapack.h>
#include <keyway/tests/backends/cuda/emulator/calls.h>
#include <keyway/tests/backends/cuda/emulator/enqueue.h>
#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/shared_library.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cusolverDn.h>
#include <string_view>
#include <utility>
#include <vector>

struct cusolverDnContext {
  int device = -1;
  cudaStream_t stream = nullptr;
};
struct cusolverDnParams {};

namespace {

using namespace keyway;
using lapack::Triangle;

constexpr std::size_t kDeviceSpace = 4096, kHostSpace = 64;  // bytes that a call asks for

cusolverStatus_t ask(std::size_t* on_device, std::size_t* on_host) {
  *on_device = kDeviceSpace;
  *on_host = kHostSpace;
  return CUSOLVER_STATUS_SUCCESS;
}

template <typename F>
void visit_type(cudaDataType_t type, const F& f) {
  switch (type) {
    case CUDA_R_32F: return f.template operator()<float>();
    case CUDA_R_64F: return f.template operator()<double>();
    case CUDA_C_32F: return f.template operator()<complex<float>>();
    case CUDA_C_64F: return f.template operator()<complex<double>>();
    default: emulator::stop("cuSOLVER has no decompositions of this type");
  }
}

cudaDataType_t real_type(cudaDataType_t type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

struct Workspaces {
  void* device_memory;
  std::size_t on_device;
  void* host_memory;
  std::size_t on_host;
};

// Has `work.operator()<T>()` done in the handle's stream; it returns what `info` is to be.
template <typename F>
cusolverStatus_t run(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cudaDataType_t type,
                     const Workspaces& workspaces, int* info, const char* call, const F& work) {
  emulator::count(call);
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUSOLVER");
  if (wish != nullptr && std::string_view(wish) == "broken") return CUSOLVER_STATUS_EXECUTION_FAILED;
  if (handle == nullptr || parameters == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  int device = -1;
  (void)cudaGetDevice(&device);
  if (handle->device != device) emulator::stop("a handle of cuSOLVER is used where another device is current");
  if (workspaces.device_memory == nullptr || workspaces.on_device != kDeviceSpace ||
      workspaces.host_memory == nullptr || workspaces.on_host != kHostSpace) {
    emulator::stop("a decomposition has no memory to work in");
  }
  std::memset(workspaces.host_memory, 0x5A, kHostSpace);
  emulator::enqueue(handle->stream, [=] {
    std::memset(workspaces.device_memory, 0x5A, kDeviceSpace);
    visit_type(type, [&]<typename T>() { *info = work.template operator()<T>(); });
  });
  return CUSOLVER_STATUS_SUCCESS;
}

template <typename T>
Matrix<T> matrix(void* data, std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  return {static_cast<T*>(data), rows, columns, 1, leading};
}

Triangle triangle(cublasFillMode_t mode) { return lapack::triangle(mode == CUBLAS_FILL_MODE_UPPER); }

// Of each conjugate pair the columns of its first vector's parts, as a real matrix has them.
template <typename R>
void store_parts(std::int64_t n, const complex<R>* values, const complex<R>* vectors, R* parts) {
  for (std::int64_t j = 0; j < n; ++j) {
    const bool second = values[j].imag() < 0;
    for (std::int64_t i = 0; i < n; ++i) {
      parts[i + j * n] = second ? vectors[i + (j - 1) * n].imag() : vectors[i + j * n].real();
    }
  }
}

}  // namespace

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  emulator::count("cusolverDnCreate");
  *handle = new cusolverDnContext;
  (void)cudaGetDevice(&(*handle)->device);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters) {
  *parameters = new cusolverDnParams;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, std::int64_t,
                                             cudaDataType_t, const void*, std::int64_t, cudaDataType_t,
                                             std::size_t* on_device, std::size_t* on_host) {
  return ask(on_device, on_host);
}
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cublasFillMode_t mode,
                                  std::int64_t n, cudaDataType_t type, void* a, std::int64_t lda, cudaDataType_t,
                                  void* device_memory, std::size_t on_device, void* host_memory, std::size_t on_host,
                                  int* info) {
  return run(handle, parameters, type, {device_memory, on_device, host_memory, on_host}, info, "cusolverDnXpotrf",
             [=]<typename T>() { return lapack::potrf(triangle(mode), matrix<T>(a, n, n, lda)); });
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t, std::int64_t,
                                             cudaDataType_t, const void*, std::int64_t, cudaDataType_t,
                                             std::size_t* on_device, std::size_t* on_host) {
  return ask(on_device, on_host);
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t parameters, std::int64_t m,
                                  std::int64_t n, cudaDataType_t type, void* a, std::int64_t lda, std::int64_t* pivots,
                                  cudaDataType_t, void* device_memory, std::size_t on_device, void* host_memory,
                                  std::size_t on_host, int* info) {
  if (pivots == nullptr) return CUSOLVER_STATUS_NOT_SUPPORTED;  // LAPACK always interchanges rows
  return run(handle, parameters, type, {device_memory, on_device, host_memory, on_host}, info, "cusolverDnXgetrf",
             [=]<typename T>() {
               std::vector<std::int32_t> rows(static_cast<std::size_t>(std::min(m, n)));
               const int state = lapack::getrf(matrix<T>(a, m, n, lda), rows.data());
               std::copy(rows.begin(), rows.end(), pivots);
               return state;
             });
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t, std::int64_t,
                                             cudaDataType_t, const void*, std::int64_t, cudaDataType_t, const void*,
                                             cudaDataType_t, std::size_t* on_device, std::size_t* on_host) {
  return ask(on_device, on_host);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t parameters, std::int64_t m,
                                  std::int64_t n, cudaDataType_t type, void* a, std::int64_t lda,
                                  cudaDataType_t tau_type, void* tau, cudaDataType_t, void* device_memory,
                                  std::size_t on_device, void* host_memory, std::size_t on_host, int* info) {
  if (tau_type != type) return CUSOLVER_STATUS_INVALID_VALUE;
  return run(handle, parameters, type, {device_memory, on_device, host_memory, on_host}, info, "cusolverDnXgeqrf",
             [=]<typename T>() {
               lapack::geqrf(matrix<T>(a, m, n, lda), static_cast<T*>(tau));
               return 0;
             });
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, std::int64_t, cudaDataType_t, const void*, std::int64_t,
                                             cudaDataType_t, const void*, cudaDataType_t, std::size_t* on_device,
                                             std::size_t* on_host) {
  return ask(on_device, on_host);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t vectors,
                                  cublasFillMode_t mode, std::int64_t n, cudaDataType_t type, void* a, std::int64_t lda,
                                  cudaDataType_t values_type, void* w, cudaDataType_t, void* device_memory,
                                  std::size_t on_device, void* host_memory, std::size_t on_host, int* info) {
  if (values_type != real_type(type)) return CUSOLVER_STATUS_INVALID_VALUE;
  return run(handle, parameters, type, {device_memory, on_device, host_memory, on_host}, info, "cusolverDnXsyevd",
             [=]<typename T>() {
               return lapack::syevd(triangle(mode), vectors == CUSOLVER_EIG_MODE_VECTOR, matrix<T>(a, n, n, lda),
                                    static_cast<Real<T>*>(w));
             });
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char, signed char,
                                             std::int64_t, std::int64_t, cudaDataType_t, const void*, std::int64_t,
                                             cudaDataType_t, const void*, cudaDataType_t, const void*, std::int64_t,
                                             cudaDataType_t, const void*, std::int64_t, cudaDataType_t,
                                             std::size_t* on_device, std::size_t* on_host) {
  return ask(on_device, on_host);
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t parameters, signed char jobu,
                                  signed char jobvt, std::int64_t m, std::int64_t n, cudaDataType_t type, void* a,
                                  std::int64_t lda, cudaDataType_t values_type, void* s, cudaDataType_t u_type, void* u,
                                  std::int64_t ldu, cudaDataType_t vt_type, void* vt, std::int64_t ldvt, cudaDataType_t,
                                  void* device_memory, std::size_t on_device, void* host_memory, std::size_t on_host,
                                  int* info) {
  if (m < n || values_type != real_type(type) || u_type != type || vt_type != type)
    return CUSOLVER_STATUS_INVALID_VALUE;
  const bool vectors = jobu != 'N';
  if (vectors != (jobvt != 'N') || (vectors && (u == nullptr || vt == nullptr))) return CUSOLVER_STATUS_INVALID_VALUE;
  return run(handle, parameters, type, {device_memory, on_device, host_memory, on_host}, info, "cusolverDnXgesvd",
             [=]<typename T>() {
               return lapack::gesdd(matrix<T>(a, m, n, lda), static_cast<Real<T>*>(s),
                                    matrix<T>(vectors ? u : nullptr, m, jobu == 'A' ? m : n, ldu),
                                    matrix<T>(vectors ? vt : nullptr, n, n, ldvt));
             });
}

cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                            cusolverEigMode_t, std::int64_t, cudaDataType_t, const void*, std::int64_t,
                                            cudaDataType_t, const void*, cudaDataType_t, const void*, std::int64_t,
                                            cudaDataType_t, const void*, std::int64_t, cudaDataType_t,
                                            std::size_t* on_device, std::size_t* on_host) {
  return ask(on_device, on_host);
}
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t parameters, cusolverEigMode_t left,
                                 cusolverEigMode_t right, std::int64_t n, cudaDataType_t type, void* a,
                                 std::int64_t lda, cudaDataType_t values_type, void* w, cudaDataType_t, void*,
                                 std::int64_t, cudaDataType_t right_type, void* vr, std::int64_t ldvr, cudaDataType_t,
                                 void* device_memory, std::size_t on_device, void* host_memory, std::size_t on_host,
                                 int* info) {
  const bool vectors = right == CUSOLVER_EIG_MODE_VECTOR;
  const bool is_complex_type = values_type == CUDA_C_32F || values_type == CUDA_C_64F;
  if (left != CUSOLVER_EIG_MODE_NOVECTOR || !is_complex_type || right_type != type || ldvr != n) {
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  return run(handle, parameters, type, {device_memory, on_device, host_memory, on_host}, info, "cusolverDnXgeev",
             [=]<typename T>() {
               using Z = complex<Real<T>>;
               std::vector<Z> found(vectors ? static_cast<std::size_t>(n * n) : 0);
               auto* const values = static_cast<Z*>(w);
               const int state = lapack::geev(matrix<T>(a, n, n, lda), values, vectors ? found.data() : nullptr);
               if constexpr (kIsComplex<T>) {
                 std::copy(found.begin(), found.end(), static_cast<T*>(vr));
               } else if (vectors) {
                 store_parts(n, values, found.data(), static_cast<T*>(vr));
               }
               return state;
             });
}

void* keyway::cuda::emulated_cusolver(const char* name) {
  const std::pair<std::string_view, void*> all[] = {
#define FUNCTION(name) {#name, reinterpret_cast<void*>(&name)}
      FUNCTION(cusolverDnCreate),
      FUNCTION(cusolverDnCreateParams),
      FUNCTION(cusolverDnSetStream),
      FUNCTION(cusolverDnXpotrf),
      FUNCTION(cusolverDnXpotrf_bufferSize),
      FUNCTION(cusolverDnXgetrf),
      FUNCTION(cusolverDnXgetrf_bufferSize),
      FUNCTION(cusolverDnXgeqrf),
      FUNCTION(cusolverDnXgeqrf_bufferSize),
      FUNCTION(cusolverDnXsyevd),
      FUNCTION(cusolverDnXsyevd_bufferSize),
      FUNCTION(cusolverDnXgesvd),
      FUNCTION(cusolverDnXgesvd_bufferSize),
      FUNCTION(cusolverDnXgeev),
      FUNCTION(cusolverDnXgeev_bufferSize),
#undef FUNCTION
  };
  const auto* const found =
      std::find_if(std::begin(all), std::end(all), [&](const auto& one) { return one.first == name; });
  return found == std::end(all) ? nullptr : found->second;
}
