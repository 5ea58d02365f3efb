#include <keyway/dispatch/plugin/load_library.h>
#include <keyway/dispatch/plugin/manifest.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tools/keyway/loaded_libraries.h>

namespace keyway::inline v1::tools {

namespace {
std::shared_ptr<const RegistryBefore> registry_before;
}  // namespace

void load_for_good(const std::string& path) {
  if (!registry_before) registry_before = std::make_shared<RegistryBefore>();
  if (is_plugin_file(path)) {
    load_plugin(path).release();
  } else {
    load_library(path);
  }
}

std::shared_ptr<const RegistryBefore> registry_before_libraries() { return registry_before; }

}  // namespace keyway::inline v1::tools
