// Layouts and constants are those of the System V ABI's "Object Files" chapter, as <elf.h> has them.
#include <keyway/core/base/error.h>
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/shared_library_file.h>

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <link.h>
#include <vector>

namespace keyway::inline v1 {

namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
#error "which ELF machine is this?"
#endif
constexpr int kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

template <typename T>
bool read(std::ifstream& file, std::uint64_t offset, T* to, std::size_t count) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(T))));
}

}  // namespace

std::string problem_of_shared_library(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "it cannot be opened";
  const auto size = static_cast<std::uint64_t>(file.tellg());
  Header header;
  if (!read(file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return "it is no shared library";
  }
  if (header.e_ident[EI_CLASS] != kClass || header.e_machine != kMachine) return "it is for another machine";
  if (header.e_type != ET_DYN || header.e_phentsize != sizeof(Segment)) return "it is no shared library";
  std::vector<Segment> segments(header.e_phnum);
  if (header.e_phoff > size || !read(file, header.e_phoff, segments.data(), segments.size())) {
    return "it is cut short";
  }
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return "it is cut short";
  }
  return {};
}

namespace {

// How the processor rounds, and what it does with numbers below the least normal one: bits of MXCSR.
#if defined(__x86_64__)
unsigned floating_point_mode() { return __builtin_ia32_stmxcsr() & ~0x3fU; }  // without the flags of what happened
void set_floating_point_mode(unsigned mode) { __builtin_ia32_ldmxcsr(mode); }
#else
unsigned floating_point_mode() { return 0; }
void set_floating_point_mode(unsigned) {}
#endif

}  // namespace

void LibraryCloser::operator()(void* library) const { dlclose(library); }

OpenLibrary open_shared_library(const std::string& path, const char* what) {
  const std::string problem = problem_of_shared_library(path);
  KEYWAY_CHECK_AS(Registration, problem.empty(), "{} {}: {}", what, path, problem);
  // A path without a folder would be looked for elsewhere.
  const std::string file = std::filesystem::absolute(path).string();
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
    const char* why = dlerror();
    KEYWAY_FAIL(Registration, "{} {}: it cannot be loaded: {}", what, path, why == nullptr ? "no reason given" : why);
  }
  return library;
}

}  // namespace keyway::inline v1
