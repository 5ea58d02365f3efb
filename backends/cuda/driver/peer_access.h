// Peer access: kernels of a device that read and write memory of another one. Internal to backends/cuda.
#pragma once

namespace keyway::inline v1::cuda {

// Whether kernels of `device` reach memory of `peer`, another one. What can be is enabled when it is first asked for,
// for good; copies between the two then need not go through the host either. Throws keyway::Error.
bool has_peer_access(int device, int peer);

}  // namespace keyway::inline v1::cuda
