// A hold is counted before its type is looked up among those that close, and a type closes before holds are counted: so
// one of both sees the other.
#include <keyway/core/base/error.h>
#include <keyway/core/base/load_changes.h>
#include <keyway/core/block_cache.h>
#include <keyway/core/device_use.h>
#include <keyway/core/host_allocator.h>

#include <array>
#include <atomic>
#include <fmt/format.h>
#include <new>
#include <utility>

namespace keyway::inline v1 {

namespace {

constexpr std::size_t kKinds = 4;

struct alignas(64) Counts {
  std::atomic<std::int64_t> things[kKinds]{}, bytes[kKinds]{};
  std::atomic<int> closing{0};
};
constinit std::array<Counts, kNumDeviceTypes> counts{};

Counts& of(DeviceType type) { return counts[static_cast<std::size_t>(type)]; }

// What the memory of a tensor hangs on instead of the allocator's own context.
struct HeldMemory {
  DataPtr data;
  DeviceType type;
  Held what;
  std::size_t bytes;
};

void free_held(void* context) {
  auto* const held = static_cast<HeldMemory*>(context);
  const DeviceType type = held->type;
  const Held what = held->what;
  const std::size_t bytes = held->bytes;
  held->~HeldMemory();
  free_block(held, sizeof(HeldMemory));
  DeviceHold::let_go(type, what, bytes);
}

void append(std::string& text, std::int64_t number, const char* one, const char* more, std::int64_t bytes = -1) {
  if (number == 0) return;
  text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, number == 1 ? one : more);
  if (bytes >= 0) text += fmt::format(" of {} bytes", bytes);
}

}  // namespace

DeviceUse device_use(DeviceType type) {
  const Counts& now = of(type);
  const auto things = [&](Held what) { return now.things[static_cast<std::size_t>(what)].load(); };
  const auto bytes = [&](Held what) { return now.bytes[static_cast<std::size_t>(what)].load(); };
  return {things(Held::Memory), bytes(Held::Memory), things(Held::Pinned),
          bytes(Held::Pinned),  things(Held::Event), things(Held::Graph)};
}

std::string to_string(const DeviceUse& use) {
  std::string text;
  append(text, use.tensors, "tensor", "tensors", use.bytes);
  append(text, use.pinned_tensors, "pinned tensor of the CPU", "pinned tensors of the CPU", use.pinned_bytes);
  append(text, use.events, "event", "events");
  append(text, use.graphs, "graph", "graphs");
  return text.empty() ? "nothing" : text;
}

DeviceHold::DeviceHold(DeviceType type, Held what, std::size_t bytes) : type_(type), what_(what), bytes_(bytes) {
  Counts& now = of(type);
  now.things[static_cast<std::size_t>(what)].fetch_add(1);
  now.bytes[static_cast<std::size_t>(what)].fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  if (now.closing.load() != 0) [[unlikely]] {
    let_go(type, what, bytes);
    KEYWAY_FAIL(NotImplemented, "the backend of device type {} is being unloaded", type);
  }
}

DeviceHold::~DeviceHold() {
  if (!kept_) let_go(type_, what_, bytes_);
}

void DeviceHold::let_go(DeviceType type, Held what, std::size_t bytes) noexcept {
  Counts& now = of(type);
  now.bytes[static_cast<std::size_t>(what)].fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  now.things[static_cast<std::size_t>(what)].fetch_sub(1);
}

DataPtr allocate_held(DeviceType type, Held what, std::size_t bytes) {
  const auto allocate = [&] {
    Allocator& allocator = get_allocator(type);
    return what == Held::Pinned ? allocator.pinned().allocate(bytes) : allocator.allocate(bytes);
  };
  if (LoadChanges::current() != nullptr) return allocate();
  // The CPU has memory whoever goes.
  if (type == DeviceType::CPU && of(type).closing.load() != 0) return host_allocator().allocate(bytes);
  DeviceHold hold(type, what, bytes);
  DataPtr data = allocate();
  if (data.deleter() == nullptr) return data;  // nobody's code frees it
  void* const memory = data.get();
  const Device device = data.device();
  void* const block = allocate_block(sizeof(HeldMemory));
  auto* const held = new (block) HeldMemory{std::move(data), type, what, bytes};
  hold.keep();
  return DataPtr(memory, held, free_held, device);
}

DeviceClosing::DeviceClosing(std::uint32_t types) noexcept : types_(types) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i].closing.fetch_add(static_cast<int>(types_ >> i & 1));
}
DeviceClosing::~DeviceClosing() {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i].closing.fetch_sub(static_cast<int>(types_ >> i & 1));
}

std::string DeviceClosing::held() const {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if ((types_ >> i & 1) == 0) continue;
    const auto type = static_cast<DeviceType>(i);
    const DeviceUse use = device_use(type);
    if (use.empty()) continue;
    text += fmt::format("{}device type {} still has {}", text.empty() ? "" : "; ", to_string(type), to_string(use));
  }
  return text;
}

}  // namespace keyway::inline v1
