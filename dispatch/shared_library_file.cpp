// Layouts and constants are those of the System V ABI's "Object Files" chapter, as <elf.h> has them.
#include <keyway/dispatch/shared_library_file.h>

#include <cstring>
#include <elf.h>
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

}  // namespace keyway::inline v1
