// The libraries that `keyway --plugin` loads, and what was registered before.
#pragma once

#include <keyway/tools/keyway/conform/registry_before.h>

#include <memory>
#include <string>

namespace keyway::inline v1::tools {

// Loads a plug-in, or a library that registers operators as it is loaded, for good. Throws keyway::Error(Registration).
void load_for_good(const std::string& path);
// What was registered before the first one; null if none was loaded.
std::shared_ptr<const RegistryBefore> registry_before_libraries();

}  // namespace keyway::inline v1::tools
