#include <keyway/core/base/error.h>
#include <keyway/dispatch/plugin/library_folder.h>
#include <keyway/dispatch/plugin/stable_abi.h>

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <link.h>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libkeyway_torch_abi.so";

// The libraries of PyTorch that need no Python: what they export to such a library is the ABI alone.
constexpr std::array<std::string_view, 5> kLibrariesOfTorch = {"libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so",
                                                               "libc10.so", "libc10_cuda.so"};

bool is_of_abi(std::string_view symbol) {
  // Whatever it does with others, it registers by such.
  return symbol.starts_with("aoti_torch_") || symbol.starts_with("keyway_abi_");
}

// The file of PyTorch's that is loaded, if any is.
std::string loaded_torch(const fs::path& own) {
  struct Search {
    fs::path own;
    std::string found;
  } search{own, {}};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    Search& s = *static_cast<Search*>(data);
    const fs::path file(info->dlpi_name);
    const std::string name = file.filename().string();
    const bool is_torch = std::ranges::find(kLibrariesOfTorch, name) != kLibrariesOfTorch.end();
    if (is_torch && !file.string().starts_with(s.own.string())) s.found = file.string();
    return s.found.empty() ? 0 : 1;
  };
  dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace

bool needs_stable_abi(const ElfImage& image) {
  const auto is_torch = [](std::string_view name) {
    return name == kLibrary || std::ranges::find(kLibrariesOfTorch, name) != kLibrariesOfTorch.end();
  };
  return std::ranges::any_of(image.needed(), is_torch) || std::ranges::any_of(image.undefined(), is_of_abi);
}

void open_stable_abi(const std::string& path, const char* what) {
  const fs::path own = library_folder();
  KEYWAY_CHECK_AS(Registration, !own.empty(),
                  "{} {}: it needs the stable C ABI, which a program that links the archive cannot open: link "
                  "libkeyway.so",
                  what, path);
  const std::string torch = loaded_torch(own);
  KEYWAY_CHECK_AS(Registration, torch.empty(),
                  "{} {}: it needs the stable C ABI, and {} of PyTorch is loaded in this process, whose functions have "
                  "the same names: load it in a process that does not import torch",
                  what, path, torch);
  const auto open = [&](const fs::path& library) {
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
    const char* const error = dlerror();
    KEYWAY_FAIL(Registration, "{} {}: it needs the stable C ABI, and {} cannot be opened: {}", what, path,
                library.string(), error == nullptr ? "no reason given" : error);
  };
  open(own / kLibrary);
  // Empty ones, so that the loader finds what a library names as needed.
  for (const std::string_view name : kLibrariesOfTorch) open(own / "keyway_torch_abi" / name);
}

}  // namespace keyway::inline v1
