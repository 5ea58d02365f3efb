// DispatchKeySet: the set of keys that a call is resolved by, in one 64-bit word.
#pragma once

#include <keyway/core/keys/dispatch_key.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace keyway::inline v1 {

// Backends and functionalities are stored apart: {CPU, AutogradCUDA} and {CUDA, AutogradCPU} are the same
// set. Union and intersection work on both halves; difference and remove() clear functionalities only, so
// that removing AutogradCPU from a CPU tensor's set leaves its backend (and removes AutogradCUDA too).
//
// In each half the bit of highest priority is the lowest: where programs must run on every x86-64, the scan from above
// is bsr, which takes AMD's Zen 3 three times as long as the scan from below.
class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  constexpr explicit DispatchKeySet(DispatchKey key) : bits_(bits_of(key)) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey key : keys) bits_ |= bits_of(key);
  }
  constexpr explicit DispatchKeySet(Functionality f) : bits_(bit_of(f)) {}
  constexpr explicit DispatchKeySet(DeviceType backend) : bits_(bit_of(backend)) {}
  // Requires: no bit that full() lacks, where a slot is asked of the set.
  static constexpr DispatchKeySet from_raw(std::uint64_t bits) {
    DispatchKeySet set;
    set.bits_ = bits;
    return set;
  }
  // Every backend and every functionality.
  static constexpr DispatchKeySet full() { return from_raw(kBackendMask | kFunctionalityMask); }
  // Every backend, and the functionalities of lower priority than `f`: where its kernel redispatches to.
  static constexpr DispatchKeySet full_after(Functionality f) {
    const std::uint64_t lower = f == Functionality::Undefined ? 0 : ~(2 * bit_of(f) - 1);
    return from_raw((lower & kFunctionalityMask) | kBackendMask);
  }

  constexpr std::uint64_t raw() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  // No set has Undefined, which is the absence of keys.
  constexpr bool has(DispatchKey key) const {
    const std::uint64_t bits = bits_of(key);
    return bits != 0 && (bits_ & bits) == bits;
  }
  constexpr bool has(Functionality f) const { return (bits_ & bit_of(f)) != 0; }
  constexpr bool has(DeviceType backend) const { return (bits_ & bit_of(backend)) != 0; }
  constexpr bool has_all(DispatchKeySet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool has_any(DispatchKeySet other) const { return (bits_ & other.bits_) != 0; }

  constexpr DispatchKeySet add(DispatchKey key) const { return from_raw(bits_ | bits_of(key)); }
  constexpr DispatchKeySet add(Functionality f) const { return from_raw(bits_ | bit_of(f)); }
  constexpr DispatchKeySet remove(DispatchKey key) const { return from_raw(bits_ & ~(bits_of(key) & ~kBackendMask)); }
  constexpr DispatchKeySet remove(Functionality f) const { return from_raw(bits_ & ~bit_of(f)); }
  constexpr DispatchKeySet remove_backend(DeviceType backend) const { return from_raw(bits_ & ~bit_of(backend)); }

  friend constexpr DispatchKeySet operator|(DispatchKeySet a, DispatchKeySet b) { return from_raw(a.bits_ | b.bits_); }
  friend constexpr DispatchKeySet operator&(DispatchKeySet a, DispatchKeySet b) { return from_raw(a.bits_ & b.bits_); }
  friend constexpr DispatchKeySet operator^(DispatchKeySet a, DispatchKeySet b) { return from_raw(a.bits_ ^ b.bits_); }
  friend constexpr DispatchKeySet operator-(DispatchKeySet a, DispatchKeySet b) {
    return from_raw(a.bits_ & (kBackendMask | ~b.bits_));
  }
  friend constexpr bool operator==(DispatchKeySet a, DispatchKeySet b) = default;

  // Where a call with this set looks in a table: two bit scans. A set without a backend bit that needs one
  // gives the slot that holds the error for it, never the first backend's.
  constexpr std::uint32_t slot() const { return slot(backend_scan()); }
  // The same where backend_scan() is known.
  constexpr std::uint32_t slot(std::uint32_t backend_scan) const {
    const detail::SlotScan& range = detail::kSlotLayout.scans[functionality_scan()];
    return range.last - (range.backend_mask & backend_scan);
  }
  constexpr Functionality highest_functionality() const {
    return static_cast<Functionality>(kFunctionalityCount - 1 - static_cast<int>(functionality_scan()));
  }
  // The highest backend, counted from 1; 0 if there is none.
  constexpr int highest_backend_number() const { return kBackendBits - static_cast<int>(backend_scan()); }
  // The same, counted from the last one down: what the processor finds.
  constexpr std::uint32_t backend_scan() const {
    return lowest_bit(static_cast<std::uint32_t>(bits_ >> 32) | std::uint32_t{1} << kBackendBits);
  }
  constexpr DispatchKey highest_priority_key() const { return static_cast<DispatchKey>(slot()); }

  // Every runtime key in the set, functionalities crossed with backends, in rising priority.
  KEYWAY_API std::vector<DispatchKey> keys() const;

  static constexpr std::uint64_t kBackendMask = ((std::uint64_t{1} << kBackendBits) - 1) << 32;

 private:
  static constexpr std::uint64_t kFunctionalityMask = (std::uint64_t{1} << (kFunctionalityCount - 1)) - 1;
  static_assert(kBackendBits < 32 && kFunctionalityCount <= 32);  // each half is scanned in 32 bits

  // Number of the lowest bit that is set. Requires: one is. A bit behind the last makes it so, and stands for "none".
  static constexpr std::uint32_t lowest_bit(std::uint32_t bits) {
    return static_cast<std::uint32_t>(__builtin_ctz(bits));  // one instruction, unlike std::countr_zero
  }
  constexpr std::uint32_t functionality_scan() const {
    return lowest_bit(static_cast<std::uint32_t>(bits_) | std::uint32_t{1} << (kFunctionalityCount - 1));
  }

  static constexpr std::uint64_t bit_of(Functionality f) {
    return f == Functionality::Undefined ? 0 : std::uint64_t{1} << (kFunctionalityCount - 1 - static_cast<int>(f));
  }
  static constexpr std::uint64_t bit_of(DeviceType backend) { return bit_of_backend(static_cast<int>(backend) + 1); }
  static constexpr std::uint64_t bit_of_backend(int number) { return std::uint64_t{1} << (32 + kBackendBits - number); }
  // The bits of a runtime key. Of the alias keys, Autograd and Autocast mean their functionalities; composites are in
  // no set.
  static constexpr std::uint64_t bits_of(DispatchKey key) {
    if (key == DispatchKey::Autograd) return bit_of(Functionality::Autograd);
    if (key == DispatchKey::Autocast) return bit_of(Functionality::Autocast);
    if (is_alias(key)) return 0;
    const int backend = backend_number_of(key);
    const bool per_backend = is_per_backend(functionality_of(key));
    return bit_of(functionality_of(key)) | (per_backend && backend > 0 ? bit_of_backend(backend) : 0);
  }

  std::uint64_t bits_ = 0;
};

// "{AutogradCPU, ADInplaceOrView, CPU}", highest priority first.
KEYWAY_API std::string to_string(DispatchKeySet set);

// Named sets.
inline constexpr DispatchKeySet kAutogradKeys = DispatchKeySet(Functionality::Autograd);
inline constexpr DispatchKeySet kAutogradRelated =
    DispatchKeySet(Functionality::Autograd) | DispatchKeySet(Functionality::ADInplaceOrView);
inline constexpr DispatchKeySet kAfterAutocast = DispatchKeySet::full_after(Functionality::Autocast);
inline constexpr DispatchKeySet kAfterAutograd = DispatchKeySet::full_after(Functionality::Autograd);
inline constexpr DispatchKeySet kAfterADInplaceOrView = DispatchKeySet::full_after(Functionality::ADInplaceOrView);

}  // namespace keyway::inline v1
