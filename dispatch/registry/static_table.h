// Tables that the compiler computes: what built-in operators start with. Why: docs/decisions/0007-tables.md.
#pragma once

#include <keyway/dispatch/call/kernel.h>
#include <keyway/dispatch/call/kernel_adapter.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/registry/resolver.h>

#include <cstddef>

namespace keyway::inline v1 {

// Kernel 0 of every table: builds the error that names the operator, the key and the nearest cause, and
// throws it.
KEYWAY_API void missing_kernel(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

// What boxed_call_info_of gives for a schema of this signature.
template <typename Sig>
inline constexpr BoxedCallInfo kBoxedCallInfo = {};
template <typename R, typename... Args>
inline constexpr BoxedCallInfo kBoxedCallInfo<R(Args...)> = [] {
  BoxedCallInfo info;
  info.has_results = !std::is_void_v<R>;
  const auto add = [&](bool tensor, bool device) {
    if (tensor) info.tensors |= std::uint64_t{1} << info.arguments;
    if (device && info.device < 0) info.device = static_cast<std::int8_t>(info.arguments);
    ++info.arguments;
  };
  (add(carries_keys<Args>, std::is_same_v<Args, Device> || std::is_same_v<Args, std::optional<Device>>), ...);
  return info;
}();

// One registration of a built-in operator; its position is the number of its KernelInfo.
template <typename Sig>
struct StaticKernel {
  DispatchKey key;
  typename Kernel<Sig>::Fn fn;
  const void* context = nullptr;
  BoxedFn boxed = nullptr;  // instead of `fn`, which is null
};

// `info` has N + 1 elements: the first for the missing kernel. `info` and `op` need only have addresses; they are not
// read at compile time.
template <typename Sig, std::size_t N>
consteval StaticTable<Sig, N + 1> make_static_table(const OperatorEntry& op, const KernelInfo* info,
                                                    const StaticKernel<Sig> (&kernels)[N]) {
  StaticTable<Sig, N + 1> table{};
  table.op = &op;
  table.info = info;
  table.backend_masks = nullptr;
  table.kernel_count = N + 1;
  table.kernel_array[0] = Kernel<Sig>{{missing_kernel, nullptr, 0, kBoxedOnly}, nullptr};
  static_assert(N < 255, "a slot is one byte");
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kernels[i].key == kernels[j].key) throw "two kernels of a built-in operator for one key";
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    const StaticKernel<Sig>& kernel = kernels[i];
    const bool boxed_only = kernel.boxed != nullptr;
    table.kernel_array[i + 1] =
        Kernel<Sig>{{boxed_only ? kernel.boxed : BoxedAdapter<Sig>::call, const_cast<void*>(kernel.context),
                     static_cast<std::uint16_t>(i + 1), static_cast<std::uint8_t>(boxed_only ? kBoxedOnly : 0)},
                    kernel.fn};
  }
  const auto find = [&](DispatchKey key) {
    for (std::size_t i = 0; i < N; ++i) {
      if (kernels[i].key == key) return static_cast<int>(i);
    }
    return -1;
  };
  const auto no_fallback = [](DispatchKey) { return false; };
  bool falls_through[kSlotCount] = {};
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const Resolution r = resolve(static_cast<DispatchKey>(slot), find, no_fallback);
    table.slots[slot] = static_cast<std::uint8_t>(r.registration + 1);
    falls_through[slot] = r.rule == ResolutionRule::Fallthrough;
  }
  const SlotMasks masks = compute_masks([&](int slot) { return falls_through[slot]; });
  // An entry whose backends differ has a composite and a kernel of one backend: codegen registers an Autograd
  // kernel to those, so that this cannot happen to a built-in operator.
  if (!masks.all_equal) throw "backends of a built-in operator differ in what falls through";
  table.mask = masks.common;
  return table;
}

}  // namespace keyway::inline v1
