// Loads the backend for emulated devices before any test runs, where the environment names it: it is in the place of
// the one that libkeyway would load when a device is first asked for.
#include <keyway/dispatch/plugin.h>

#include <cstdlib>

namespace {

const bool loaded = [] {
  const char* const file = std::getenv("KEYWAY_EMULATED_CUDA");
  if (file != nullptr) keyway::load_plugin(file).release();
  return file != nullptr;
}();

}  // namespace
