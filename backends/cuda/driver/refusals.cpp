#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/devices.h>
#include <keyway/backends/cuda/driver/named_kernel.h>
#include <keyway/backends/cuda/driver/refusal_note.h>
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

constexpr int kStreams = 1 + kStreamLevels * kStreamsPerLevel;
constexpr int kOfGraphs = kStreams;
constexpr int kSlots = kStreams + 1;

// The slots of a device, made when its first kernel that can refuse anything is launched; never freed.
struct Slots {
  std::once_flag made;
  std::atomic<RefusalSlot*> first{nullptr};
};
Slots& slots_of(Device device) {
  static std::array<Slots, kMaxDevices> all;
  return all[static_cast<std::size_t>(device.index())];
}

// Takes what a slot holds. The device has written it before the host was told that the kernel has ended.
void throw_slot(RefusalSlot& slot) {
  if (slot == nullptr) [[likely]]
    return;
  const Refusal* const found = slot;
  slot = nullptr;
  constexpr std::string_view kOwn = "keyway::";  // which errors leave out
  const std::string_view op = found->op;
  KEYWAY_FAIL(Value, "{}: {}", op.starts_with(kOwn) ? op.substr(kOwn.size()) : op, found->reason);
}

}  // namespace

RefusalSlot* refusal_slot(Stream stream) {
  Slots& slots = slots_of(stream.device());
  std::call_once(slots.made, [&] {
    const OutsideCapture outside;
    void* memory = nullptr;
    constexpr std::size_t bytes = kSlots * sizeof(RefusalSlot);
    KEYWAY_CUDA_CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
    auto* const first = static_cast<RefusalSlot*>(memory);
    for (int i = 0; i < kSlots; ++i) first[i] = nullptr;
    slots.first.store(first, std::memory_order_release);
  });
  return slots.first.load(std::memory_order_acquire) + (is_captured(stream) ? kOfGraphs : stream.id());
}

const Refusal* refusal(const char* op, const char* reason) {
  // By texts: those of a reason may stand in several files.
  struct Less {
    bool operator()(const Refusal& a, const Refusal& b) const {
      return std::pair(std::string_view(a.op), std::string_view(a.reason)) <
             std::pair(std::string_view(b.op), std::string_view(b.reason));
    }
  };
  static std::mutex mutex;
  static auto& all = *new std::set<Refusal, Less>;
  const std::lock_guard lock(mutex);
  return &*all.insert({op, reason}).first;
}

RefusalNote refusal_note(const char* reason, Stream stream) {
  if (reason == nullptr) return {};
  return {refusal(RunningOp::name(), reason), refusal_slot(stream)};
}

void throw_refused(Stream stream) {
  RefusalSlot* const first = slots_of(stream.device()).first.load(std::memory_order_acquire);
  if (first == nullptr) return;
  throw_slot(first[stream.id()]);
  throw_slot(first[kOfGraphs]);
}

void throw_refused(Device device) {
  RefusalSlot* const first = slots_of(device).first.load(std::memory_order_acquire);
  for (int i = 0; first != nullptr && i < kSlots; ++i) throw_slot(first[i]);
}

}  // namespace keyway::inline v1::cuda
