#include <keyway/dispatch/plugin/library_folder.h>

#include <dlfcn.h>

namespace keyway::inline v1 {

std::filesystem::path library_folder() {
  Dl_info found;
  if (dladdr(reinterpret_cast<const void*>(&library_folder), &found) == 0 || found.dli_fname == nullptr) return {};
  const std::filesystem::path file(found.dli_fname);
  return file.filename().string().starts_with("libkeyway.so") ? file.parent_path() : std::filesystem::path();
}

}  // namespace keyway::inline v1
