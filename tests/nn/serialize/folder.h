// A folder that goes with the test.
#pragma once

#include <keyway/tests/catch.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace keyway::inline v1::testing {

struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "keyway-serialize-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name = "t.safetensors") const { return (path / name).string(); }

  std::filesystem::path path;
};

}  // namespace keyway::inline v1::testing
