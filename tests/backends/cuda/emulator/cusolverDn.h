// cuSOLVER as far as the backend uses it, with decompositions that LAPACK computes (cusolver.cpp). Values of
// enumerations are the real library's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#define CUSOLVER_VER_MAJOR 12

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSOLVER_STATUS_NOT_SUPPORTED = 9,
};
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };

struct cusolverDnContext;
struct cusolverDnParams;
using cusolverDnHandle_t = cusolverDnContext*;
using cusolverDnParams_t = cusolverDnParams*;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, std::int64_t n,
                                             cudaDataType_t, const void* a, std::int64_t lda, cudaDataType_t,
                                             std::size_t* on_device, std::size_t* on_host);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, std::int64_t n,
                                  cudaDataType_t, void* a, std::int64_t lda, cudaDataType_t, void* device_memory,
                                  std::size_t on_device, void* host_memory, std::size_t on_host, int* info);
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m, std::int64_t n,
                                             cudaDataType_t, const void* a, std::int64_t lda, cudaDataType_t,
                                             std::size_t* on_device, std::size_t* on_host);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m, std::int64_t n,
                                  cudaDataType_t, void* a, std::int64_t lda, std::int64_t* pivots, cudaDataType_t,
                                  void* device_memory, std::size_t on_device, void* host_memory, std::size_t on_host,
                                  int* info);
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m, std::int64_t n,
                                             cudaDataType_t, const void* a, std::int64_t lda, cudaDataType_t,
                                             const void* tau, cudaDataType_t, std::size_t* on_device,
                                             std::size_t* on_host);
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t m, std::int64_t n,
                                  cudaDataType_t, void* a, std::int64_t lda, cudaDataType_t, void* tau, cudaDataType_t,
                                  void* device_memory, std::size_t on_device, void* host_memory, std::size_t on_host,
                                  int* info);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, std::int64_t n, cudaDataType_t, const void* a,
                                             std::int64_t lda, cudaDataType_t, const void* w, cudaDataType_t,
                                             std::size_t* on_device, std::size_t* on_host);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t,
                                  std::int64_t n, cudaDataType_t, void* a, std::int64_t lda, cudaDataType_t, void* w,
                                  cudaDataType_t, void* device_memory, std::size_t on_device, void* host_memory,
                                  std::size_t on_host, int* info);
cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char jobu,
                                             signed char jobvt, std::int64_t m, std::int64_t n, cudaDataType_t,
                                             const void* a, std::int64_t lda, cudaDataType_t, const void* s,
                                             cudaDataType_t, const void* u, std::int64_t ldu, cudaDataType_t,
                                             const void* vt, std::int64_t ldvt, cudaDataType_t, std::size_t* on_device,
                                             std::size_t* on_host);
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t, cusolverDnParams_t, signed char jobu, signed char jobvt,
                                  std::int64_t m, std::int64_t n, cudaDataType_t, void* a, std::int64_t lda,
                                  cudaDataType_t, void* s, cudaDataType_t, void* u, std::int64_t ldu, cudaDataType_t,
                                  void* vt, std::int64_t ldvt, cudaDataType_t, void* device_memory,
                                  std::size_t on_device, void* host_memory, std::size_t on_host, int* info);
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t jobvl,
                                            cusolverEigMode_t jobvr, std::int64_t n, cudaDataType_t, const void* a,
                                            std::int64_t lda, cudaDataType_t, const void* w, cudaDataType_t,
                                            const void* vl, std::int64_t ldvl, cudaDataType_t, const void* vr,
                                            std::int64_t ldvr, cudaDataType_t, std::size_t* on_device,
                                            std::size_t* on_host);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t jobvl,
                                 cusolverEigMode_t jobvr, std::int64_t n, cudaDataType_t, void* a, std::int64_t lda,
                                 cudaDataType_t, void* w, cudaDataType_t, void* vl, std::int64_t ldvl, cudaDataType_t,
                                 void* vr, std::int64_t ldvr, cudaDataType_t, void* device_memory,
                                 std::size_t on_device, void* host_memory, std::size_t on_host, int* info);
