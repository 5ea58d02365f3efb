// OperatorState: what the registry remembers of one operator. Internal to dispatch/; guarded by the
// registry's lock.
#pragma once

#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/dispatcher.h>

#include <array>
#include <atomic>
#include <optional>
#include <vector>

namespace keyway::inline v1 {

// One kernel that is in force or waits under a later one. The first ones of a built-in operator are its own
// (block 0).
struct Registration {
  DispatchKey key;
  ErasedKernel kernel;
  std::uint64_t signature = 0;  // 0: boxed
  std::string name;
  Site site;
  std::uint64_t block = 0;  // the library block that it came with
};

// A fallback of one key, for all operators.
struct Fallback {
  bool fallthrough = false;
  ErasedKernel kernel{};
  std::string name;
  Site site;
  std::uint64_t block = 0;
};
using Fallbacks = std::array<std::optional<Fallback>, kSlotCount>;

struct OperatorState {
  std::vector<Registration> registrations;  // in order of arrival: the latest of a key is in force
  std::uint64_t def_block = 0;              // the block that defined it; 0: built-in
  Site def_site;
  bool defined = false;
  std::vector<const Table*> tables;  // every table it ever had: equal ones are used again

  // Number of the registration in force for a key, or -1.
  int find(DispatchKey key) const {
    for (std::size_t i = registrations.size(); i-- > 0;) {
      if (registrations[i].key == key) return static_cast<int>(i);
    }
    return -1;
  }
};

// The table for an operator's registrations and the fallbacks in force: an earlier one of `state` if it is
// equal.
const Table* build_table(const OperatorEntry& op, OperatorState& state, const Fallbacks& fallbacks);

}  // namespace keyway::inline v1
