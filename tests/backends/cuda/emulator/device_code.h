// What nvcc knows without being told, for a C++ compiler that reads a kernel's source. Included before it.
#pragma once

#include <cuda_runtime_api.h>

#define __global__
#define __device__
#define __host__
#define __shared__ static  // blocks run one after the other
#define __grid_constant__
#define __launch_bounds__(...)

#pragma GCC visibility push(default)

// Of the device's thread that runs: there is one at a time.
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

// Waits for all threads of the block that have not ended.
void __syncthreads();

#pragma GCC visibility pop
