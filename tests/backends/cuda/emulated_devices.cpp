// Loads the backend for emulated devices before any test runs, where the environment names it: it is in the place of
// the one that libkeyway would load when a device is first asked for. Where KEYWAY_EMULATED_LIBRARIES is defined, a
// folder, NVRTC and the driver of emulated devices are loaded too: who opens them by name gets them and no others.
#include <keyway/dispatch/plugin/plugin.h>

#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace {

const bool loaded = [] {
  const char* const file = std::getenv("KEYWAY_EMULATED_CUDA");
#if defined(KEYWAY_SANITIZED) && !defined(KEYWAY_EMULATED_LIBRARIES)  // which are for graphs, and these need the cache
  setenv("KEYWAY_NO_CUDA_MEMORY_CACHING", "1", 0);  // so that the sanitizer knows where each tensor ends
#endif
  if (file != nullptr) keyway::load_plugin(file).release();
#if defined(KEYWAY_EMULATED_LIBRARIES)
  for (const char* const name : {"libcuda.so.1", "libnvrtc.so.12", "libnvrtc.so.13"}) {
    const std::string library = std::string(KEYWAY_EMULATED_LIBRARIES "/") + name;
    if (file != nullptr && dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) std::abort();
  }
#endif
  return file != nullptr;
}();

}  // namespace
