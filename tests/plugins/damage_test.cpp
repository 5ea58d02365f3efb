// Files whose headers or tables are damaged are refused, or load; none of them ends the process. These have no
// manifest: of one that has, seal_test.cpp damages every part.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/plugins/file_copy.h>
#include <keyway/tests/plugins/plugin_files.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

// How a child ends that loads the file: as loaded, refused, or in another way: by a signal, or by the loader, which
// exits with 127 where its own assertions fail.
enum class Outcome { Loaded, Refused, Crashed };
Outcome load_in_child(const std::string& file) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(10);
    try {
      load_plugin(file).release();
    } catch (const Error&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) return Outcome::Crashed;
  return WEXITSTATUS(status) == 0 ? Outcome::Loaded : Outcome::Refused;
}

template <typename T>
T struct_at(const std::string& bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
std::vector<T> structs_at(const std::string& bytes, std::uint64_t offset, std::uint64_t size) {
  std::vector<T> values(size / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = struct_at<T>(bytes, offset + i * sizeof(T));
  return values;
}

// A part of a file.
struct Part {
  std::string name;
  std::uint64_t begin, size;
};

// The sections that a loader reads, and the table of functions' frames.
std::vector<Part> tables_of(const std::string& bytes) {
  const auto header = struct_at<Elf64_Ehdr>(bytes, 0);
  const auto sections = structs_at<Elf64_Shdr>(bytes, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  std::vector<Part> parts;
  for (const Elf64_Shdr& section : sections) {
    const std::string name = bytes.data() + sections[header.e_shstrndx].sh_offset + section.sh_name;
    const bool is_table = section.sh_type == SHT_DYNSYM || section.sh_type == SHT_GNU_HASH ||
                          section.sh_type == SHT_HASH || section.sh_type == SHT_GNU_versym ||
                          section.sh_type == SHT_GNU_verneed || section.sh_type == SHT_GNU_verdef ||
                          section.sh_type == SHT_RELA || name == ".relr.dyn" || name == ".dynstr" ||
                          name == ".eh_frame_hdr" || name == ".eh_frame";
    if (is_table && (section.sh_flags & SHF_ALLOC) != 0) parts.push_back({name, section.sh_offset, section.sh_size});
  }
  return parts;
}

// Where the file has the bytes at an address.
std::uint64_t offset_of(const std::string& bytes, std::uint64_t address) {
  const auto header = struct_at<Elf64_Ehdr>(bytes, 0);
  for (const auto& segment : structs_at<Elf64_Phdr>(bytes, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr))) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  }
  FAIL("the file has no such address");
  return 0;
}

// The same file, built against other headers: whatever its tables say, nothing of it is loaded.
std::string with_other_layout(std::string bytes) {
  const std::vector<Part> tables = tables_of(bytes);
  const auto names = std::ranges::find(tables, ".dynstr", &Part::name);
  const auto symbols = std::ranges::find(tables, ".dynsym", &Part::name);
  for (const auto& symbol : structs_at<Elf64_Sym>(bytes, symbols->begin, symbols->size)) {
    if (std::string_view(bytes.data() + names->begin + symbol.st_name) != "keyway_plugin") continue;
    char& byte = bytes[offset_of(bytes, symbol.st_value)];
    byte = static_cast<char>(byte ^ 1);
  }
  return bytes;
}

// The offsets of the functions that the loader calls first and last, in the dynamic table.
std::vector<std::uint64_t> begin_and_end(const std::string& bytes) {
  const auto header = struct_at<Elf64_Ehdr>(bytes, 0);
  std::vector<std::uint64_t> offsets;
  for (const auto& segment : structs_at<Elf64_Phdr>(bytes, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr))) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto entries = structs_at<Elf64_Dyn>(bytes, segment.p_offset, segment.p_filesz);
    for (std::size_t i = 0; i < entries.size() && entries[i].d_tag != DT_NULL; ++i) {
      if (entries[i].d_tag == DT_INIT || entries[i].d_tag == DT_FINI)
        offsets.push_back(segment.p_offset + i * sizeof(Elf64_Dyn) + offsetof(Elf64_Dyn, d_un));
    }
  }
  return offsets;
}

std::string refusal_of(const FileCopy& file) {
  return error_of([&] { static_cast<void>(load_plugin(file.path.string())); });
}

}  // namespace

TEST_CASE("no damage of a plug-in's headers and tables ends the process") {
  const std::string whole = bytes_of(plugin_module("bare"));
  const FileCopy file;
  file.write(whole);
  REQUIRE(load_in_child(file.path.string()) == Outcome::Loaded);
  // The ELF header, the program headers and the dynamic table. Which function of the file the loader is to call first
  // or last, nobody can know.
  const std::vector<std::uint64_t> functions = begin_and_end(whole);
  REQUIRE(functions.size() == 2);
  const auto header = struct_at<Elf64_Ehdr>(whole, 0);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts{{0, sizeof(Elf64_Ehdr)},
                                                             {header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)}};
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = struct_at<Elf64_Phdr>(whole, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_DYNAMIC) parts.emplace_back(segment.p_offset, segment.p_filesz);
  }
  std::vector<std::string> crashes;
  const int step = campaign(1, 7) == 1 ? 7 : 1;
  int counter = 0, refused = 0;
  for (const auto& [begin, size] : parts) {
    for (std::uint64_t offset = begin; offset < begin + size; ++offset) {
      for (int bit = 0; bit < 8; ++bit) {
        const auto names_function = [&](std::uint64_t at) { return offset >= at && offset < at + 8; };
        if (std::ranges::any_of(functions, names_function) || counter++ % step != 0) continue;
        std::string bytes = whole;
        bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
        file.write(bytes);
        const Outcome outcome = load_in_child(file.path.string());
        if (outcome == Outcome::Crashed) crashes.push_back(std::to_string(offset) + " bit " + std::to_string(bit));
        refused += outcome == Outcome::Refused ? 1 : 0;
      }
    }
  }
  CHECK(crashes == std::vector<std::string>{});
  CHECK(refused > counter / step / 4);
}

// Of a file that is looked at and not loaded, nothing can come but an error.
TEST_CASE("damaged tables of names, symbols, versions and relocations are followed to no harm") {
  const std::string whole = with_other_layout(bytes_of(plugin_module("bare")));
  const FileCopy file;
  file.write(whole);
  REQUIRE(refusal_of(file).find("it is built against other headers") != std::string::npos);
  std::fstream damaged_file(file.path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::uint64_t offset, char byte) {
    damaged_file.seekp(static_cast<std::streamoff>(offset));
    damaged_file.put(byte).flush();
  };
  const int step = campaign(1, 7) == 1 ? 13 : 1;
  int counter = 0;
  std::map<std::string, int> found;  // how often it was seen, by table
  for (const Part& table : tables_of(whole)) {
    found[table.name] = 0;
    for (std::uint64_t offset = table.begin; offset < table.begin + table.size; ++offset) {
      for (int bit = 0; bit < 8; ++bit) {
        if (counter++ % step != 0) continue;
        INFO(table.name << " at " << offset << ", bit " << bit);
        put(offset, static_cast<char>(whole[offset] ^ (1 << bit)));
        const std::string text = refusal_of(file);
        found[table.name] += text.find("it is damaged") != std::string::npos ? 1 : 0;
      }
      put(offset, whole[offset]);
    }
  }
  INFO(counter);
  for (const char* const name : {".dynsym", ".gnu.hash", ".gnu.version", ".gnu.version_r", ".rela.dyn", ".dynstr"}) {
    CAPTURE(name);
    CHECK(found.contains(name));
    CHECK(found[name] > 0);
  }
}

TEST_CASE("a library may begin and end with functions that no symbol names, but not in the midst of one") {
  const std::string whole = bytes_of(plugin_module("begins"));
  {
    const LoadedPlugin plugin = load_plugin(plugin_module("begins").string());
    CHECK(op("begins::begun").typed<std::int64_t(const TensorBase&)>().call(tensor()) == 1);
  }
  const FileCopy file;
  for (const std::uint64_t offset : begin_and_end(whole)) {
    std::string bytes = whole;
    bytes[offset] = static_cast<char>(bytes[offset] + 1);
    file.write(bytes);
    CHECK(refusal_of(file).ends_with(": it is damaged: what runs when it is loaded begins within a function"));
    // Without sections, as after a cut, the same.
    auto header = struct_at<Elf64_Ehdr>(bytes, 0);
    header.e_shnum = 0;
    std::memcpy(bytes.data(), &header, sizeof(header));
    file.write(bytes);
    CHECK(refusal_of(file).ends_with(": it is damaged: what runs when it is loaded begins within a function"));
  }
}
