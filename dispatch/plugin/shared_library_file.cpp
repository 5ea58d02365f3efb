#include <keyway/core/base/error.h>
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/plugin/elf_image.h>
#include <keyway/dispatch/plugin/library_folder.h>
#include <keyway/dispatch/plugin/shared_library_file.h>
#include <keyway/dispatch/plugin/stable_abi.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <string_view>

namespace keyway::inline v1 {

namespace {

// What this thread is loading: a library may end the program, in a static object's constructor for one.
constinit thread_local const char* loading = nullptr;
constinit thread_local const char* loading_what = nullptr;

void tell_who_ended() {
  if (loading == nullptr) return;
  std::fprintf(stderr, "[keyway] %s %s ended the program while it was being loaded: its code called exit()\n",
               loading_what, loading);
}

// How the processor rounds, and what it does with numbers below the least normal one: bits of MXCSR.
#if defined(__x86_64__)
unsigned floating_point_mode() { return __builtin_ia32_stmxcsr() & ~0x3fU; }  // without the flags of what happened
void set_floating_point_mode(unsigned mode) { __builtin_ia32_ldmxcsr(mode); }
#else
unsigned floating_point_mode() { return 0; }
void set_floating_point_mode(unsigned) {}
#endif

// Whether the missing symbol is in Keyway's namespace: "_ZN6keyway2v1...", "_ZNK6keyway...", "_ZTIN6keyway...". One of
// another namespace may have Keyway's in the types of its arguments.
bool lacks_symbol_of_keyway(std::string_view why) {
  constexpr std::string_view kBefore = "undefined symbol: _Z";
  const std::size_t at = why.find(kBefore);
  if (at == why.npos) return false;
  const std::string_view symbol = why.substr(at + kBefore.size());
  const std::size_t length = symbol.find_first_of("0123456789");
  return length != symbol.npos && symbol.substr(length).starts_with("6keyway");
}

// Libraries of graphs need libkeyway_graph.so. It stands beside libkeyway.so, where the loader may not look, and a
// program that uses no graphs has not loaded it. If it cannot be opened, the loader says so when it needs it.
void open_graph_library(const ElfImage& image) {
  const std::filesystem::path folder = library_folder();
  if (folder.empty()) return;
  for (const std::string_view name : image.needed()) {
    if (name.starts_with("libkeyway_graph.so")) dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

}  // namespace

void LibraryCloser::operator()(void* library) const { dlclose(library); }

ExitNotice::ExitNotice(const char* what, const std::string& path) : outer_(loading), outer_what_(loading_what) {
  static const int registered = std::atexit(tell_who_ended);
  static_cast<void>(registered);
  loading = path.c_str();
  loading_what = what;
}
ExitNotice::~ExitNotice() {
  loading = outer_;
  loading_what = outer_what_;
}

OpenLibrary open_shared_library(const std::string& path, const char* what) {
  const ElfImage image(path);
  KEYWAY_CHECK_AS(Registration, image.problem().empty(), "{} {}: {}", what, path, image.problem());
  if (needs_stable_abi(image)) open_stable_abi(path, what);
  open_graph_library(image);
  // A path without a folder would be looked for elsewhere.
  const std::string file = std::filesystem::absolute(path).string();
  const ExitNotice notice(what, path);
  const unsigned mode = floating_point_mode();
  OpenLibrary library(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (floating_point_mode() != mode) {
    set_floating_point_mode(mode);
    warn(format(
        "{} {}: it changes how the processor computes with numbers below the least normal one, as libraries built "
        "for fast math do; that is undone",
        ArrayRef<FormatArg>({FormatArg(what), FormatArg(path)})));
  }
  if (library == nullptr) {
    const char* const error = dlerror();
    const std::string_view why = error == nullptr ? "no reason given" : error;
    KEYWAY_FAIL(Registration, "{} {}: it cannot be loaded: {}{}", what, path, why,
                lacks_symbol_of_keyway(why)
                    ? "; this Keyway has no such function: it was compiled against another version; rebuild it "
                      "with the headers of this one"
                    : "");
  }
  return library;
}

}  // namespace keyway::inline v1
