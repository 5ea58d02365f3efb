// cuFFT as far as the backend uses it, with transforms that the host computes (cufft.cpp). Values of enumerations are
// the real library's.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

#define CUFFT_VER_MAJOR 12
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1

enum cufftResult {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_NOT_SUPPORTED = 16,
};
enum cufftType { CUFFT_C2C = 0x29, CUFFT_Z2Z = 0x69 };
struct cufftComplex {
  float x, y;
};
struct cufftDoubleComplex {
  double x, y;
};

using cufftHandle = int;
cufftResult cufftCreate(cufftHandle* handle);
cufftResult cufftDestroy(cufftHandle handle);
cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates);
// Without `in_sizes` and `out_sizes` what lies where is row-major, and strides and distances are not looked at.
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* sizes, long long* in_sizes,
                                long long in_stride, long long in_distance, long long* out_sizes, long long out_stride,
                                long long out_distance, cufftType type, long long batch, std::size_t* workspace);
cufftResult cufftSetWorkArea(cufftHandle handle, void* workspace);
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream);
cufftResult cufftExecC2C(cufftHandle handle, cufftComplex* from, cufftComplex* to, int direction);
cufftResult cufftExecZ2Z(cufftHandle handle, cufftDoubleComplex* from, cufftDoubleComplex* to, int direction);
