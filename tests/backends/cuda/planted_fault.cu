// Faults that compute-sanitizer is to find in kernels of Keyway's names: where it finds none, it has looked at none.
#include <cstring>

namespace keyway {

__global__ void write_beyond(int* elements) { elements[threadIdx.x] = 1; }

__global__ void race(int* elements) {
  __shared__ int shared[64];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  elements[threadIdx.x] = shared[63 - threadIdx.x];
}

}  // namespace keyway

int main(int argc, char** argv) {
  const bool races = argc == 2 && std::strcmp(argv[1], "race") == 0;
  int* elements = nullptr;
  if (cudaMalloc(&elements, (races ? 64 : 63) * sizeof(int)) != cudaSuccess) return 2;
  if (races) {
    keyway::race<<<1, 64>>>(elements);
  } else {
    keyway::write_beyond<<<1, 64>>>(elements);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
