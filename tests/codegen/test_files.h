// What tests of the generator share: the data folder, and a build of schema text.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/model/build_model.h>
#include <keyway/codegen/writer.h>
#include <keyway/tests/catch.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

inline std::string data_file(const std::string& name) { return std::string(KEYWAY_CODEGEN_DATA) + "/" + name; }

struct BuildResult {
  std::optional<std::vector<Family>> families;
  std::string errors;
};

inline BuildResult build(const std::string& text) {
  Diagnostics diagnostics;
  auto families = build_model({{"test.json", text}}, diagnostics);
  return {std::move(families), diagnostics.str()};
}

// A file with these entries, which begin in line 2.
inline std::string file_of(const std::string& entries) {
  return "{ \"doc\": \"Tests.\", \"ops\": [\n" + entries + "\n]}\n";
}

// The one op of a file that has to be right.
inline Op op_of(const std::string& file) {
  auto result = build(file);
  INFO(result.errors);
  REQUIRE(result.families.has_value());
  REQUIRE(result.families->front().ops.size() == 1);
  return result.families->front().ops.front();
}
inline Op build_op(const std::string& entry) { return op_of(file_of(entry)); }

}  // namespace keyway::inline v1::testing
