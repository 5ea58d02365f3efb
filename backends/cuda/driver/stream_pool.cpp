#include <keyway/backends/cuda/driver/stream_pool.h>
#include <keyway/backends/cuda/driver/with_device.h>
#include <keyway/core/base/error.h>

namespace keyway::inline v1::cuda {

StreamPool& StreamPool::get() {
  static StreamPool& pool = *new StreamPool;
  return pool;
}

StreamPool::OfDevice& StreamPool::of_device(int device) {
  OfDevice& here = devices_[static_cast<std::size_t>(device)];
  std::call_once(here.asked, [&] {
    const WithDevice on(device);
    int least = 0, greatest = 0;
    KEYWAY_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    here.usual = least;
    here.levels = std::clamp(1 + least - greatest, 1, kStreamLevels);
  });
  return here;
}

StreamPool::Level& StreamPool::level(int device, int number) {
  OfDevice& here = of_device(device);
  Level& level = here.all[static_cast<std::size_t>(number)];
  std::call_once(level.made, [&] {
    const WithDevice on(device);
    for (cudaStream_t& stream : level.streams) {
      KEYWAY_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, here.usual - number));
    }
  });
  return level;
}

cudaStream_t StreamPool::capture_stream(int device) {
  OfDevice& here = of_device(device);
  std::call_once(here.capture_made, [&] {
    const WithDevice on(device);
    KEYWAY_CUDA_CHECK(cudaStreamCreateWithPriority(&here.capture, cudaStreamNonBlocking, here.usual));
  });
  return here.capture;
}

StreamId StreamPool::next(int device, int priority) {
  const int number = level_of_priority(priority, of_device(device).levels);
  const unsigned turn = level(device, number).next.fetch_add(1, std::memory_order_relaxed);
  return PooledStream{number, static_cast<int>(turn % kStreamsPerLevel)}.id();
}

cudaStream_t StreamPool::stream(int device, StreamId id) {
  if (id == 0) return nullptr;
  if (id == kCaptureStream) return capture_stream(device);
  const auto pooled = PooledStream::of(id);
  KEYWAY_CHECK(pooled && pooled->level < of_device(device).levels, "there is no stream {} of cuda:{}", id, device);
  return level(device, pooled->level).streams[static_cast<std::size_t>(pooled->number)];
}

}  // namespace keyway::inline v1::cuda
