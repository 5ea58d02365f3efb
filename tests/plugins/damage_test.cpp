// Files whose headers or tables are damaged are refused, or load; none of them ends the process.
#include <keyway/dispatch/plugin.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/plugins/plugin_files.h>

#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

// A file that goes with it.
struct DamagedFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("keyway-damaged-" + std::to_string(getpid()) + ".so");
  void write(const std::string& bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~DamagedFile() { std::filesystem::remove(path); }
};

// How a child ends that loads the file: as loaded, refused, or by a signal.
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
  if (!WIFEXITED(status)) return Outcome::Crashed;
  return WEXITSTATUS(status) == 0 ? Outcome::Loaded : Outcome::Refused;
}

template <typename T>
T struct_at(const std::string& bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

TEST_CASE("no damage of a plug-in's headers and tables ends the process") {
  std::ifstream in(plugin_module("twice"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const DamagedFile file;
  file.write(whole);
  REQUIRE(load_in_child(file.path.string()) == Outcome::Loaded);
  // The ELF header, the program headers and the dynamic table.
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
    for (std::uint64_t place = begin; place < begin + size; ++place) {
      for (int bit = 0; bit < 8; ++bit) {
        if (counter++ % step != 0) continue;
        std::string bytes = whole;
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << bit));
        file.write(bytes);
        const Outcome outcome = load_in_child(file.path.string());
        if (outcome == Outcome::Crashed) crashes.push_back(std::to_string(place) + " bit " + std::to_string(bit));
        refused += outcome == Outcome::Refused ? 1 : 0;
      }
    }
  }
  CHECK(crashes == std::vector<std::string>{});
  CHECK(refused > counter / step / 4);
}
