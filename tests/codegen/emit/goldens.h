// Goldens: what the generator is expected to write, in files. KEYWAY_UPDATE_GOLDENS=1 in the environment writes them
// anew; their difference is then for a person to read.
#pragma once

#include <keyway/codegen/writer.h>
#include <keyway/tests/codegen/test_files.h>

#include <cstdlib>
#include <string>

namespace keyway::inline v1::testing {

inline std::string golden_path(const std::string& name) { return std::string(KEYWAY_CODEGEN_GOLDENS) + "/" + name; }

inline void check_golden(const std::string& name, const std::string& text) {
  if (std::getenv("KEYWAY_UPDATE_GOLDENS") != nullptr) write_if_changed(golden_path(name), text);
  INFO("golden " << name);
  CHECK(text == read_file(golden_path(name)));
}

// The families of a golden schema file, which is named in errors and in generated code without its folder.
inline BuildResult build_golden(const std::string& name) {
  Diagnostics diagnostics;
  auto families = build_model({{name, read_file(golden_path(name))}}, diagnostics);
  return {std::move(families), diagnostics.str()};
}

}  // namespace keyway::inline v1::testing
