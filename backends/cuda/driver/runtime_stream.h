// runtime_stream: what the runtime launches kernels in. Internal to backends/cuda, and to the kernels of libraries out
// of tree.
#pragma once

#include <keyway/core/device/stream.h>

#include <cuda_runtime_api.h>

namespace keyway::inline v1::cuda {

// The runtime's stream of a Stream of CUDA.
cudaStream_t runtime_stream(Stream stream);

// Whether this thread may wait for the stream: not while it captures a graph.
bool may_wait_for(Stream stream);

}  // namespace keyway::inline v1::cuda
