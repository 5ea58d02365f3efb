// Loads the backend for emulated devices before any test runs, where the environment names it: it is in the place of
// the one that libkeyway would load when a device is first asked for.
#include <keyway/dispatch/plugin/plugin.h>

#include <cstdlib>

namespace {

const bool loaded = [] {
  const char* const file = std::getenv("KEYWAY_EMULATED_CUDA");
#if defined(KEYWAY_SANITIZED)
  setenv("KEYWAY_NO_CUDA_MEMORY_CACHING", "1", 0);  // so that the sanitizer knows where each tensor ends
#endif
  if (file != nullptr) keyway::load_plugin(file).release();
  return file != nullptr;
}();

}  // namespace
