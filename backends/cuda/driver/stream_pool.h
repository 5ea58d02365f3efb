// StreamPool: the streams of all devices, and of each the one for captures, made when they are first asked for.
// Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/devices.h>
#include <keyway/backends/cuda/pooled_stream.h>

#include <array>
#include <atomic>
#include <cuda_runtime_api.h>
#include <mutex>

namespace keyway::inline v1::cuda {

// Thread-safe. Streams live as long as the process: who holds a number cannot hold one that is gone.
class StreamPool {
 public:
  static StreamPool& get();

  // The number of a stream of the level that serves `priority`, one after the other.
  StreamId next(int device, int priority);
  // The runtime's stream of a number that next() gave, or of kCaptureStream. Throws keyway::Error(Value) for another
  // one.
  cudaStream_t stream(int device, StreamId id);

 private:
  struct Level {
    std::once_flag made;
    std::array<cudaStream_t, kStreamsPerLevel> streams{};
    std::atomic<unsigned> next{0};
  };
  struct OfDevice {
    std::once_flag asked;
    int levels = 1;
    int usual = 0;  // the runtime's number of level 0
    std::array<Level, kStreamLevels> all;
    std::once_flag capture_made;
    cudaStream_t capture = nullptr;
  };

  OfDevice& of_device(int device);
  Level& level(int device, int number);
  cudaStream_t capture_stream(int device);

  std::array<OfDevice, kMaxDevices> devices_;
};

}  // namespace keyway::inline v1::cuda
