// How much memory it takes to read the file of a program: the most that a process has resident meanwhile, beyond what
// it had before.
#include <keyway/core/device/host_allocator.h>
#include <keyway/graph/program.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/in_child.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <malloc.h>
#include <string>
#include <sys/mman.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

// What pages of the library itself may take that are used for the first time.
constexpr std::size_t kLibrary = std::size_t{4} << 20;

// A line of /proc/self/status, in bytes.
std::size_t status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

// Of a call in a process of its own; 0 if the call failed.
std::size_t peak_of(const std::function<void()>& call) {
  void* const shared = mmap(nullptr, sizeof(std::size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto* const peak = static_cast<std::size_t*>(shared);
  const auto measure = [&] {
    empty_host_cache();  // memory that is there already would not count
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak is what there is now
    const std::size_t before = status("VmRSS:");
    call();
    *peak = status("VmHWM:") - before;
    return true;
  };
  const bool is_done = in_child(measure, 120);
  const std::size_t found = is_done ? *peak : 0;
  munmap(shared, sizeof(std::size_t));
  return found;
}

struct Folder {
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("keyway_program_memory_" + std::to_string(getpid()));
};

std::string input_text(std::size_t number, const std::string& description) {
  return "%" + std::to_string(number) + " 'w" + std::to_string(number) + "': " + description + " state";
}

// Checks that a file is read with at most twice its size, and `allowance` bytes, beyond what there was: by its path,
// and from bytes, which count.
void check_memory(const graph::Program& program, std::size_t allowance) {
  const Folder folder;
  const std::string path = (folder.path / "program.safetensors").string();
  program.save(path);
  const std::size_t size = std::filesystem::file_size(path);
  const std::size_t by_path = peak_of([&] { graph::Program::load(path); });
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::size_t from_bytes = peak_of([&] { graph::Program::deserialize(bytes); });
  INFO("a file of " << size << " bytes took " << by_path << ", and as bytes " << from_bytes << " besides");
  if (std::getenv("KEYWAY_SHOW_MEMORY") != nullptr)
    std::printf("%zu bytes: by path %.2f, from bytes %.2f\n", size,
                static_cast<double>(by_path) / static_cast<double>(size),
                1 + static_cast<double>(from_bytes) / static_cast<double>(size));
  CHECK(by_path != 0);
  CHECK(from_bytes != 0);
  CHECK(by_path <= 2 * size + allowance);
  CHECK(from_bytes <= size + allowance);
}

}  // namespace

#ifndef KEYWAY_SANITIZED  // the sanitizers keep memory that is free

TEST_CASE("a program with much state is read with twice its file's memory") {
  const std::int64_t rows = 1000, columns = 4096;
  for (const bool is_transposed : {false, true}) {
    const Tensor weight = ones({rows, columns});
    graph::Program program(
        "graph program(" +
            input_text(0, is_transposed ? "float32[4096, 1000] stride [1, 4096]" : "float32[1000, 4096]") +
            ") {\n  return (%0)\n}\n",
        {{"w0", is_transposed ? weight.t() : weight}});
    check_memory(program, kLibrary);
  }
}

TEST_CASE("a program with a long text is read with twice its file's memory") {
  std::string text = "graph program(%0 x: float32[n]) {\n";
  for (int i = 1; i <= 100000; ++i)
    text += "  %" + std::to_string(i) + " = keyway::relu(%" + std::to_string(i - 1) +
            ")  # model.py:" + std::to_string(i) + "\n";
  check_memory(graph::Program(text + "  return (%100000)\n}\n", {}), kLibrary);
}

TEST_CASE("a program with many small tensors is read with a kilobyte and a half for each") {
  const std::size_t count = 10000, bytes_each = 1600;
  std::string text = "graph program(";
  nn::StateDict state;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + input_text(i, "float32[1]");
    state.insert("w" + std::to_string(i), ones({1}));
  }
  check_memory(graph::Program(text + ") {\n  return (%0)\n}\n", state), count * bytes_each);
}

#endif
