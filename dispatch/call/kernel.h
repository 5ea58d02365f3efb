// Kernel and Table: what an operator's call loads.
//
// A Table is one immutable object: which keys count, one byte a slot, and the kernels that the bytes number.
// A call loads the operator's table pointer once, so it can never combine a mask and a slot of different
// ages.
#pragma once

#include <keyway/core/keys/dispatch_key_set.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1 {

class IValue;
class InFlightCalls;
class OperatorEntry;
using Stack = std::vector<IValue>;

struct KernelBase;

// A kernel for any operator: takes its arguments from the top of the stack and leaves its results there.
using BoxedFn = void (*)(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

// Why a caller cannot simply call `fn`. Any bit sends it to call_slowly().
enum KernelFlags : std::uint8_t {
  kBoxedOnly = 1,       // `fn` is null: a fallback, a kernel in Python, or the error of a missing kernel
  kFallthrough = 2,     // no kernel: calls go on to the next key. In registrations only, never in a table.
  kCounted = 4,         // it may go: calls count themselves in and out (in_flight_calls.h)
  kOfFallback = 8,      // it serves every operator that has no kernel for its key
  kLosesGradient = 16,  // no kernel but a mark: calls go on to the next key, and look what they get (lost_gradient.h)
};

struct KernelBase {
  BoxedFn boxed;        // never null in a table
  void* context;        // the kernel's own: a functor, or null
  std::uint16_t index;  // in its table
  std::uint8_t flags;
};

// A kernel of the canonical signature Sig, e.g. TensorBase(const TensorBase&, std::int64_t). It gets itself
// (for its context) and the key set it was found with (to redispatch from), then the arguments.
template <typename R, typename... Args>
using KernelFn = R (*)(const KernelBase& kernel, DispatchKeySet keys, Args... args);
template <typename Sig>
struct Kernel;
template <typename R, typename... Args>
struct Kernel<R(Args...)> : KernelBase {
  using Fn = KernelFn<R, Args...>;
  Fn fn;
};

// The same with the signature forgotten: what the registry stores and copies, and callers cast `fn` of.
struct ErasedKernel : KernelBase {
  void (*fn)();
};
static_assert(sizeof(ErasedKernel) == 32);

// Where a kernel of a table came from. Copied texts, or literals of the library itself: never pointers into a
// plug-in.
struct KernelInfo {
  DispatchKey key = DispatchKey::Undefined;  // what it was registered to: a runtime or an alias key
  const char* name = "";                     // of the kernel, for people
  const char* file = "";
  int line = 0;
  InFlightCalls* in_flight = nullptr;  // where its calls are counted, as it may go; null: it is there for good
};

// The kernels lie behind the table, in a StaticTable or in memory that the registry laid out like one.
struct alignas(8) Table {
  const OperatorEntry* op;             // null in the table of errors of operators that are no longer defined
  std::uint64_t mask;                  // keys that are not fallthrough for some backend, and every backend bit
  const std::uint64_t* backend_masks;  // for each backend_scan(), where backends differ; else null
  const KernelInfo* info;              // one for each kernel
  std::uint16_t kernel_count;
  std::uint8_t slots[kSlotCount];  // number of the kernel of each slot; kernel 0 is the error of a missing one

  // What a call with `keys` comes to: the keys without those that fall through, and the number of its kernel. Masks
  // keep every backend bit, so that the backend need not wait for them.
  struct Found {
    DispatchKeySet keys;
    std::size_t kernel;
  };
  [[gnu::always_inline]] Found find(DispatchKeySet keys) const {
    const std::uint32_t backend = keys.backend_scan();
    std::uint64_t kept = mask;
    if (backend_masks != nullptr) [[unlikely]]
      kept = backend_masks[backend];
    const auto effective = DispatchKeySet::from_raw(keys.raw() & kept);
    return {effective, slots[effective.slot(backend)]};
  }
  // The same, past a mark of lost gradients at Autograd: the kernel that runs.
  Found find_past_mark(DispatchKeySet keys) const {
    const Found found = find(keys);
    return is_mark(found.kernel) ? find(keys.remove(Functionality::Autograd)) : found;
  }
  bool is_mark(std::size_t index) const { return (kernel(index).flags & kLosesGradient) != 0; }
  const ErasedKernel& kernel(std::size_t index) const {
    return reinterpret_cast<const ErasedKernel*>(reinterpret_cast<const char*>(this) + sizeof(Table))[index];
  }
  // The table that a kernel was found in. Requires: it stands in one.
  static const Table& of(const KernelBase& kernel) {
    return *reinterpret_cast<const Table*>(reinterpret_cast<const char*>(&kernel) -
                                           kernel.index * sizeof(ErasedKernel) - sizeof(Table));
  }
};

// A table that the compiler computes and the loader maps: see static_table.h.
template <typename Sig, std::size_t N>
struct StaticTable : Table {
  Kernel<Sig> kernel_array[N];
};

}  // namespace keyway::inline v1
