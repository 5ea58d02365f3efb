#include <keyway/core/base/error.h>

#include <accelerator/guard.h>

namespace accelerator {

using namespace keyway;

namespace {

// What an event is: the point that it was recorded at last.
using Recorded = std::shared_ptr<Point>;
Recorded& recorded(void* event) { return *static_cast<Recorded*>(event); }

// The current stream of each device. Trivial, so that the library can be unloaded while threads have it.
thread_local StreamId current_streams[kChips] = {};

void throw_error(Chip& chip) {
  try {
    chip.throw_error();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    KEYWAY_FAIL(Internal, "the accelerator failed: {}", error.what());
  }
}

}  // namespace

Queue& AcceleratorGuard::queue_of(Stream stream) const {
  KEYWAY_CHECK(stream.id() >= 0 && stream.id() < kQueues, "there is no {}: a device of type {} has {} streams", stream,
               type(), kQueues);
  return hardware_->chip(stream.device().index()).queue(static_cast<std::size_t>(stream.id()));
}

Stream AcceleratorGuard::get_stream(Device device) const { return Stream(device, current_streams[device.index()]); }

Stream AcceleratorGuard::get_new_stream(Device device, int) {
  return Stream(device, 1 + next_stream_++ % (kQueues - 1));
}

Stream AcceleratorGuard::exchange_stream(Stream stream) {
  queue_of(stream);
  const Stream before = get_stream(stream.device());
  current_streams[stream.device().index()] = stream.id();
  return before;
}

bool AcceleratorGuard::query_stream(Stream stream) const { return queue_of(stream).is_idle(); }

void AcceleratorGuard::synchronize_stream(Stream stream) const {
  queue_of(stream).mark()->wait();
  throw_error(queue_of(stream).chip());
}

void AcceleratorGuard::synchronize_device(Device device) const {
  hardware_->chip(device.index()).drain();
  throw_error(hardware_->chip(device.index()));
}

void* AcceleratorGuard::create_event(Device, bool) { return new Recorded; }
void AcceleratorGuard::destroy_event(void* event, Device) noexcept { delete &recorded(event); }
void AcceleratorGuard::record(void* event, Stream stream) { recorded(event) = queue_of(stream).mark(); }
void AcceleratorGuard::block(void* event, Stream stream) { queue_of(stream).wait_for(recorded(event)); }
bool AcceleratorGuard::query_event(void* event) const { return recorded(event)->is_reached(); }
void AcceleratorGuard::synchronize_event(void* event) const { recorded(event)->wait(); }

double AcceleratorGuard::elapsed_time(void* start, void* end) const {
  return std::chrono::duration<double, std::milli>(recorded(end)->time() - recorded(start)->time()).count();
}

}  // namespace accelerator
