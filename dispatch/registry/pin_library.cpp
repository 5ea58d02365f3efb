#include <keyway/dispatch/registry/pin_library.h>

#include <dlfcn.h>

namespace keyway::inline v1 {

void pin_library_of(const void* address) noexcept {
  Dl_info found;
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return;
  // Of the program itself, which stays anyway, this is an error that nobody need see.
  void* const library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (library != nullptr) {
    dlclose(library);
  } else {
    static_cast<void>(dlerror());
  }
}

}  // namespace keyway::inline v1
