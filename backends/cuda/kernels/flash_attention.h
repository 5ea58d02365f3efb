// Attention by tensor cores, for the operators' kernels. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/attention_launch.h>
#include <keyway/core/dtype/dtype_set.h>
#include <keyway/core/dtype/scalar_type.h>

#include <cuda_runtime_api.h>

namespace keyway::inline v1::cuda {

inline constexpr DtypeSet kFlashTypes{ScalarType::Half, ScalarType::BFloat16};

// output and logsumexp. Requires: takes_attention() is true of the operands.
void flash_forward(const AttentionLaunch& of, ScalarType dtype, cudaStream_t stream);
// grad_query, grad_key and grad_value, of which none overlaps an operand. Requires: the same.
void flash_backward(const AttentionLaunch& of, ScalarType dtype, cudaStream_t stream);

}  // namespace keyway::inline v1::cuda
