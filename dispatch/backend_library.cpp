// Backends that come with Keyway in a library of their own: libkeyway_cuda.so, beside libkeyway.so.
#include <keyway/core/device_guard_impl.h>
#include <keyway/core/load_backend.h>
#include <keyway/dispatch/plugin.h>
#include <keyway/dispatch/registry_news.h>

#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <utility>

namespace keyway::inline v1 {

namespace {

// The folder that holds this library; empty in a program that has it linked in, whose backends would bring another
// copy.
std::filesystem::path library_folder() {
  Dl_info found;
  if (dladdr(reinterpret_cast<const void*>(&library_folder), &found) == 0 || found.dli_fname == nullptr) return {};
  const std::filesystem::path file(found.dli_fname);
  return file.filename().string().starts_with("libkeyway.so") ? file.parent_path() : std::filesystem::path();
}

// Why it cannot be loaded; empty if it could.
std::string load(const std::string& name) {
  try {
    const std::filesystem::path folder = library_folder(), file = folder / ("libkeyway_" + name + ".so");
    if (folder.empty()) return "a program that links the archive loads none";
    if (!std::filesystem::exists(file)) return file.string() + " is not there";
    load_plugin(file.string()).release();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::string detail::load_backend(DeviceType type) {
  if (type != DeviceType::CUDA || find_device_guard_impl(type) != nullptr) return {};
  // Loading tells listeners, who may ask for the device: so the lock is theirs, which lets a thread in again.
  const std::lock_guard lock(NewsDesk::get().mutex);
  static bool tried = false;
  static std::string& problem = *new std::string;
  if (!std::exchange(tried, true)) problem = load("cuda");
  return problem;
}

}  // namespace keyway::inline v1
