#include <keyway/backends/cuda/driver/devices.h>
#include <keyway/backends/cuda/driver/peer_access.h>
#include <keyway/backends/cuda/driver/with_device.h>

#include <array>
#include <mutex>
#include <optional>

namespace keyway::inline v1::cuda {

namespace {

bool enable_peer_access(int device, int peer) {
  int can = 0;
  KEYWAY_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device, peer));
  if (can == 0) return false;
  const WithDevice on(device);
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  (void)cudaGetLastError();
  if (status == cudaErrorTooManyPeers) return false;  // a device has room for some
  if (status != cudaErrorPeerAccessAlreadyEnabled) check(status, "cudaDeviceEnablePeerAccess", __FILE__, __LINE__);
  return true;
}

}  // namespace

bool has_peer_access(int device, int peer) {
  static std::mutex mutex;
  static std::array<std::array<std::optional<bool>, kMaxDevices>, kMaxDevices> known;
  const std::lock_guard lock(mutex);
  std::optional<bool>& here = known[static_cast<std::size_t>(device)][static_cast<std::size_t>(peer)];
  if (!here) here = enable_peer_access(device, peer);
  return *here;
}

}  // namespace keyway::inline v1::cuda
