#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/device_assert_target.h>
#include <keyway/backends/cuda/driver/devices.h>
#include <keyway/backends/cuda/driver/named_kernel.h>
#include <keyway/backends/cuda/pooled_stream.h>
#include <keyway/core/base/error.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

constexpr int kStreams = 1 + kCaptureStream;
constexpr int kOfGraphs = kStreams;
constexpr int kSlots = kStreams + 1;

// The slots of a device, made when its first kernel that can refuse anything is launched; never freed.
struct Slots {
  std::once_flag made;
  std::atomic<DeviceAssertSlot*> first{nullptr};
};
Slots& slots_of(Device device) {
  static std::array<Slots, kMaxDevices> all;
  return all[static_cast<std::size_t>(device.index())];
}

// Takes what a slot holds. The device has written it before the host was told that the kernel has ended.
void throw_slot(DeviceAssertSlot& slot) {
  if (slot == nullptr) [[likely]]
    return;
  const DeviceAssert* const found = slot;
  slot = nullptr;
  constexpr std::string_view kOwn = "keyway::";  // which errors leave out
  const std::string_view op = found->op;
  KEYWAY_FAIL(Value, "{}: {}", op.starts_with(kOwn) ? op.substr(kOwn.size()) : op, found->reason);
}

}  // namespace

DeviceAssertSlot* device_assert_slot(Stream stream) {
  Slots& slots = slots_of(stream.device());
  std::call_once(slots.made, [&] {
    const OutsideCapture outside;
    void* memory = nullptr;
    constexpr std::size_t bytes = kSlots * sizeof(DeviceAssertSlot);
    KEYWAY_CUDA_CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
    auto* const first = static_cast<DeviceAssertSlot*>(memory);
    for (int i = 0; i < kSlots; ++i) first[i] = nullptr;
    slots.first.store(first, std::memory_order_release);
  });
  return slots.first.load(std::memory_order_acquire) + (is_captured(stream) ? kOfGraphs : stream.id());
}

const DeviceAssert* device_assert(const char* op, const char* reason) {
  // By texts: those of a reason may stand in several files.
  struct Less {
    bool operator()(const DeviceAssert& a, const DeviceAssert& b) const {
      return std::pair(std::string_view(a.op), std::string_view(a.reason)) <
             std::pair(std::string_view(b.op), std::string_view(b.reason));
    }
  };
  static std::mutex mutex;
  static auto& all = *new std::set<DeviceAssert, Less>;
  const std::lock_guard lock(mutex);
  return &*all.insert({op, reason}).first;
}

DeviceAssertTarget device_assert_target(const char* reason, Stream stream) {
  if (reason == nullptr) return {};
  return {device_assert(RunningOp::name(), reason), device_assert_slot(stream)};
}

void throw_device_asserts(Stream stream) {
  DeviceAssertSlot* const first = slots_of(stream.device()).first.load(std::memory_order_acquire);
  if (first == nullptr) return;
  throw_slot(first[stream.id()]);
  throw_slot(first[kOfGraphs]);
}

void throw_device_asserts(Device device) {
  DeviceAssertSlot* const first = slots_of(device).first.load(std::memory_order_acquire);
  for (int i = 0; first != nullptr && i < kSlots; ++i) throw_slot(first[i]);
}

}  // namespace keyway::inline v1::cuda
