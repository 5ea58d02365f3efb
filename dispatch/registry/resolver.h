// The resolver: which of an operator's registrations serves a slot, and by which rule.
//
// One function with three callers: the compiler computes the tables of built-in operators with it, the
// registry the tables of everything registered at run time, and explain() its answer. The precedence is
// PyTorch's, with the backends of an autograd key taken to be all that share its backend bit (PyTorch looks at
// the dense one only, so that an operator with just a sparse kernel keeps a composite's gradient there).
#pragma once

#include <keyway/core/keys/dispatch_key_set.h>

#include <cstdint>
#include <optional>

namespace keyway::inline v1 {

enum class Rule : std::uint8_t {
  Direct,             // a kernel registered to this very key
  CompositeExplicit,  // the operator's kernel for every backend
  CompositeImplicit,  // the operator's kernel for every backend and its autograd key
  Alias,              // the operator's kernel for every backend's autograd key, or autocast key
  Fallback,           // the key's kernel for every operator
  Fallthrough,        // the key is skipped by operators that have no kernel for it
  Missing,
};

struct Resolution {
  Rule rule = Rule::Missing;
  int registration = -1;  // number of the registration that serves, for the first four rules
};

// `find(key)` gives the number of the registration that is in force for a key, runtime or alias, or -1;
// `has_fallback(key)` whether a backend fallback is registered for a runtime key.
template <typename Find, typename HasFallback>
constexpr Resolution resolve(DispatchKey slot, Find&& find, HasFallback&& has_fallback) {
  const Functionality f = functionality_of(slot);
  const int backend = backend_number_of(slot);
  if (is_per_backend(f) && backend == 0) return {};  // a set that lacks its backend bit: always an error

  if (const int direct = find(slot); direct >= 0) return {Rule::Direct, direct};

  const int explicit_kernel = find(DispatchKey::CompositeExplicitAutograd);
  if (computes(f) && explicit_kernel >= 0) return {Rule::CompositeExplicit, explicit_kernel};

  if (computes(f) || f == Functionality::Autograd) {
    bool shadowed = false;
    if (f == Functionality::Autograd) {
      shadowed = explicit_kernel >= 0;
      for (Functionality b : kBackendFunctionalities) {
        shadowed = shadowed || find(static_cast<DispatchKey>(slot_of(b, backend))) >= 0;
      }
    }
    const int implicit = find(DispatchKey::CompositeImplicitAutograd);
    if (implicit >= 0 && !shadowed) return {Rule::CompositeImplicit, implicit};
  }
  if (const std::optional<DispatchKey> alias = alias_of(f)) {
    if (const int kernel = find(*alias); kernel >= 0) return {Rule::Alias, kernel};
  }
  if (has_fallback(slot)) return {Rule::Fallback, -1};
  if (falls_through_by_default(f)) return {Rule::Fallthrough, -1};
  return {};
}

// The keys that count for each backend, given which slots fall through, at the index where
// DispatchKeySet::backend_scan() finds it. `common` is the mask if all backends agree. The last index is a set without
// a backend: there a functionality counts that counts for any backend, and gives the error of its slot.
struct SlotMasks {
  std::uint64_t by_scan[kBackendBits + 1] = {};
  bool all_equal = true;
  std::uint64_t common = 0;
};

template <typename FallsThrough>
constexpr SlotMasks compute_masks(FallsThrough&& falls_through) {
  SlotMasks masks;
  for (int b = 1; b <= kBackendBits; ++b) {
    std::uint64_t mask = DispatchKeySet::kBackendMask;
    for (int f = 1; f < kFunctionalityCount; ++f) {
      const auto functionality = static_cast<Functionality>(f);
      if (!falls_through(slot_of(functionality, b))) mask |= DispatchKeySet(functionality).raw();
    }
    masks.by_scan[kBackendBits - b] = mask;
    masks.by_scan[kBackendBits] |= mask;
    masks.all_equal = masks.all_equal && mask == masks.by_scan[kBackendBits - 1];
  }
  masks.common = masks.by_scan[kBackendBits];
  return masks;
}

}  // namespace keyway::inline v1
