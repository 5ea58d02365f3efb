// cuBLASLt, NVIDIA's library of matrix products, opened when the first product needs it. Internal to backends/cuda.
//
// What products are computed in is a policy of this backend, not the library's default: 16-bit floats are summed in
// float32 to the end, and float32 is float32, but that KEYWAY_CUDA_ALLOW_TF32=1 in the environment lets float32 and
// complex64 be rounded to TF32 (10 bits of fraction) before they are multiplied, which tensor cores do several times as
// fast. The library reads neither operand where alpha is 0, and not c where beta is.
#pragma once

#include <keyway/backends/cuda/product.h>
#include <keyway/core/dtype/scalar.h>

namespace keyway::inline v1::cuda {

// Whether it has products of a dtype at all: floats from 16 bits on, complex64 and complex128.
bool cublas_lt_takes(ScalarType dtype);
// Whether it adds a bias to products of a dtype: real ones.
bool cublas_lt_takes_bias(ScalarType dtype);

// In the current stream of the device, with its choice of a kernel, which is kept for the next product of this kind,
// and memory of the caching allocator if that needs any. False if it has no kernel for this one; then nothing has
// happened. Throws keyway::Error: NotImplemented where the library is not installed, else one that names its call that
// failed. Requires: cublas_lt_takes(dtype), and cublas_lt_takes_bias(dtype) for one with a bias; `device`
// is current.
bool cublas_lt_product(const ColumnMajorProduct& product, const Scalar& alpha, const Scalar& beta, Device device);

}  // namespace keyway::inline v1::cuda
