// Files of plug-ins, changed.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>

namespace keyway::inline v1::testing {

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file that goes with it.
struct FileCopy {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("keyway-copy-" + std::to_string(getpid()) + ".so");
  FileCopy() = default;
  explicit FileCopy(const std::filesystem::path& of) { write(bytes_of(of)); }
  FileCopy(const FileCopy&) = delete;
  FileCopy& operator=(const FileCopy&) = delete;
  ~FileCopy() { std::filesystem::remove(path); }

  // A new file, should the one before still be mapped.
  void write(std::string_view bytes) const {
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
};

}  // namespace keyway::inline v1::testing
