// Dispatch keys: what a tensor or a thread asks of an operator, and where the answer stands in its table.
//
// Two levels, as in c10, PyTorch's core library. A *backend* says whose memory a tensor lives in (a DeviceType: every
// backend has its own bit, also one that is loaded at run time). A *functionality* is a layer that a call passes
// through, in priority order. Some functionalities exist once a backend (Dense, Autograd, ...): crossed with the
// backends they give runtime keys such as CPU, AutogradCUDA; the others have one runtime key each.
//
// A DispatchKeySet (dispatch_key_set.h) is one 64-bit word: functionalities below, backends from bit 32 on.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/device.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

// In rising priority: the highest one in a set is called first.
enum class Functionality : std::uint8_t {
  Undefined = 0,  // no tensor argument had a key
  Dense,
  Quantized,
  Sparse,
  CopyOnWrite,  // bytes that several storages share: core/tensor/copy_on_write.h
  BackendSelect,
  Python,         // modes and wrapper tensors: python/python_dispatch.h
  Functionalize,  // graphs of what is executed: graph/capture.h
  ADInplaceOrView,
  Autograd,
  ForwardAD,
  Tracer,  // graphs of programs as they are written
  Autocast,
  Batched,
  Profiler,
};

inline constexpr int kBackendBits = 24;
static_assert(kBackendBits == kNumDeviceTypes);

namespace detail {
enum FunctionalityTraits : std::uint8_t {
  kPerBackend = 1,    // it has a runtime key for each backend
  kComputes = 2,      // calls end in it: an operator's kernel for every backend serves it too
  kFallsThrough = 4,  // operators with nothing registered for it skip it, unless it has a fallback
  kCallsBelow = 8,    // its kernels call the operator again, for the keys below
  kOfWrites = 16,     // its fallback serves the operators that write to an argument; the others skip it
};
struct FunctionalityRow {
  std::string_view name;
  int traits;
};
// What is known of each functionality, in the order of the enumerators.
inline constexpr FunctionalityRow kFunctionalities[] = {
    {"Undefined", kComputes},
    {"Dense", kPerBackend | kComputes},
    {"Quantized", kPerBackend | kComputes},
    {"Sparse", kPerBackend | kComputes},
    {"CopyOnWrite", kFallsThrough | kCallsBelow | kOfWrites},
    {"BackendSelect", kFallsThrough},
    {"Python", 0},
    {"Functionalize", 0},
    {"ADInplaceOrView", kFallsThrough | kCallsBelow},
    {"Autograd", kPerBackend | kFallsThrough | kCallsBelow},
    {"ForwardAD", 0},
    {"Tracer", kFallsThrough},
    {"Autocast", kPerBackend | kFallsThrough},
    {"Batched", 0},
    {"Profiler", kFallsThrough},
};
constexpr bool has_trait(Functionality f, int trait) {
  return (kFunctionalities[static_cast<std::size_t>(f)].traits & trait) != 0;
}
}  // namespace detail

inline constexpr int kFunctionalityCount = std::size(detail::kFunctionalities);  // with Undefined
static_assert(kFunctionalityCount == static_cast<int>(Functionality::Profiler) + 1);

constexpr bool is_per_backend(Functionality f) { return detail::has_trait(f, detail::kPerBackend); }
constexpr bool computes(Functionality f) { return detail::has_trait(f, detail::kComputes); }
constexpr bool falls_through_by_default(Functionality f) { return detail::has_trait(f, detail::kFallsThrough); }
constexpr bool calls_below(Functionality f) { return detail::has_trait(f, detail::kCallsBelow); }
constexpr bool is_of_writes(Functionality f) { return detail::has_trait(f, detail::kOfWrites); }

// Those of tensors' memory: Dense, Quantized, ...
inline constexpr auto kBackendFunctionalities = [] {
  constexpr auto is_one = [](int f) {
    return computes(static_cast<Functionality>(f)) && is_per_backend(static_cast<Functionality>(f));
  };
  constexpr int kCount = [is_one] {
    int count = 0;
    for (int f = 0; f < kFunctionalityCount; ++f) count += is_one(f) ? 1 : 0;
    return count;
  }();
  std::array<Functionality, kCount> found{};
  std::size_t next = 0;
  for (int f = 0; f < kFunctionalityCount; ++f) {
    if (is_one(f)) found[next++] = static_cast<Functionality>(f);
  }
  return found;
}();

namespace detail {
// Where the slots of each functionality begin in a table. A per-backend functionality has one slot more than
// there are backends: the first is what a set without a backend bit finds, and holds an error.
struct SlotRange {
  std::uint16_t offset;
  std::uint16_t backend_mask;  // all ones where the backend counts
};
// The same as calls look for it: ranges of functionalities from the highest down, and in each the slot of the last
// backend, from which the position of another one, counted down, is taken off.
struct SlotScan {
  std::uint16_t last;
  std::uint16_t backend_mask;
};
struct SlotLayout {
  SlotRange ranges[kFunctionalityCount] = {};
  SlotScan scans[kFunctionalityCount] = {};
  std::uint16_t count = 0;
};
constexpr SlotLayout make_slot_layout() {
  SlotLayout layout;
  for (int f = 0; f < kFunctionalityCount; ++f) {
    const bool per_backend = is_per_backend(static_cast<Functionality>(f));
    const auto backend_mask = static_cast<std::uint16_t>(per_backend ? 0xffff : 0);
    layout.ranges[f] = {layout.count, backend_mask};
    layout.scans[kFunctionalityCount - 1 - f] = {
        static_cast<std::uint16_t>(layout.count + (per_backend ? kBackendBits : 0)), backend_mask};
    layout.count = static_cast<std::uint16_t>(layout.count + (per_backend ? kBackendBits + 1 : 1));
  }
  return layout;
}
inline constexpr SlotLayout kSlotLayout = make_slot_layout();
}  // namespace detail

inline constexpr int kSlotCount = detail::kSlotLayout.count;

// Slot of (functionality, backend); `backend` counts from 1, and 0 is "no backend".
constexpr int slot_of(Functionality f, int backend) {
  const detail::SlotRange& range = detail::kSlotLayout.ranges[static_cast<std::size_t>(f)];
  return range.offset + (range.backend_mask & backend);
}

// A runtime key is the number of its slot. Alias keys stand behind them; they occur in registrations only,
// never in a set, and expand to runtime keys when a table is computed.
enum class DispatchKey : std::uint16_t {
  Undefined = 0,

  CPU = slot_of(Functionality::Dense, 1),
  CUDA = slot_of(Functionality::Dense, 2),
  Meta = slot_of(Functionality::Dense, 3),
  QuantizedCPU = slot_of(Functionality::Quantized, 1),
  QuantizedCUDA = slot_of(Functionality::Quantized, 2),
  SparseCPU = slot_of(Functionality::Sparse, 1),
  SparseCUDA = slot_of(Functionality::Sparse, 2),
  CopyOnWrite = slot_of(Functionality::CopyOnWrite, 0),
  BackendSelect = slot_of(Functionality::BackendSelect, 0),
  Python = slot_of(Functionality::Python, 0),
  Functionalize = slot_of(Functionality::Functionalize, 0),
  ADInplaceOrView = slot_of(Functionality::ADInplaceOrView, 0),
  AutogradCPU = slot_of(Functionality::Autograd, 1),
  AutogradCUDA = slot_of(Functionality::Autograd, 2),
  AutogradMeta = slot_of(Functionality::Autograd, 3),
  ForwardAD = slot_of(Functionality::ForwardAD, 0),
  Tracer = slot_of(Functionality::Tracer, 0),
  AutocastCPU = slot_of(Functionality::Autocast, 1),
  AutocastCUDA = slot_of(Functionality::Autocast, 2),
  Batched = slot_of(Functionality::Batched, 0),
  Profiler = slot_of(Functionality::Profiler, 0),

  // Alias keys.
  Autograd = kSlotCount,      // every backend's autograd key
  Autocast,                   // every backend's autocast key
  CompositeExplicitAutograd,  // every backend; gradients come from an Autograd kernel
  CompositeImplicitAutograd,  // every backend and its autograd key: written with differentiable operators
};

inline constexpr DispatchKey kLastDispatchKey = DispatchKey::CompositeImplicitAutograd;  // the highest number

constexpr bool is_alias(DispatchKey key) { return static_cast<int>(key) >= kSlotCount; }

// The alias key of a functionality's keys for all backends, if it has one.
constexpr std::optional<DispatchKey> alias_of(Functionality f) {
  if (f == Functionality::Autograd) return DispatchKey::Autograd;
  if (f == Functionality::Autocast) return DispatchKey::Autocast;
  return std::nullopt;
}

// Requires: !is_alias(key).
constexpr Functionality functionality_of(DispatchKey key) {
  int f = kFunctionalityCount - 1;
  while (detail::kSlotLayout.ranges[f].offset > static_cast<int>(key)) --f;
  return static_cast<Functionality>(f);
}

// Backend of a runtime key, counted from 1; 0 if its functionality has none. Requires: !is_alias(key).
constexpr int backend_number_of(DispatchKey key) {
  return static_cast<int>(key) - detail::kSlotLayout.ranges[static_cast<std::size_t>(functionality_of(key))].offset;
}

// The runtime key of a functionality for a backend: runtime_key(Functionality::Autograd, DeviceType::CPU).
constexpr DispatchKey runtime_key(Functionality f, DeviceType backend) {
  return static_cast<DispatchKey>(slot_of(f, static_cast<int>(backend) + 1));
}

KEYWAY_API std::string_view to_string(Functionality f);
// "CPU", "AutogradCUDA", "CompositeImplicitAutograd"; a backend loaded as "npu" reads "NPU".
KEYWAY_API std::string to_string(DispatchKey key);
// The key of that name, runtime or alias; nothing if there is none (a backend that is not loaded has no
// keys).
KEYWAY_API std::optional<DispatchKey> parse_dispatch_key(std::string_view name);

}  // namespace keyway::inline v1
