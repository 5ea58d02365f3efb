// The names of a key set's keys, as it is printed and serialised.
#pragma once

#include <keyway/core/keys/dispatch_key_set.h>

#include <string>
#include <vector>

namespace keyway::inline v1 {

// Of every runtime key, highest priority first: "AutogradCPU", "CPU". A per-backend functionality of a set without a
// backend has the functionality's own: "Autograd".
KEYWAY_API std::vector<std::string> key_names(DispatchKeySet set);

}  // namespace keyway::inline v1
