// The generated code of a fixture family is what a person has read and found right. After a change of an emitter:
// KEYWAY_UPDATE_GOLDENS=1 tests_codegen "[goldens]", then read the diff.
#include <keyway/codegen/emit/emitter.h>
#include <keyway/tests/codegen/test_files.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

using namespace keyway;

namespace {

// What generated texts are compared; other emitters of the fixture are tested by what their code does.
constexpr const char* kGoldens[] = {
    "assembly/op_list.cpp",
    "assembly/plans.h",
    "assembly/wrappers_fixture.cpp",
    "backends/cpu/kernels_fixture.h",
    "backends/cpu/loops_fixture_0.cpp",
    "ops/all.h",
    "ops/fixture.h",
    "ops/fixture_composites.h",
    "ops/fixture_entries.h",
    "ops/methods.h",
    "ops/tensor_operators.h",
    "tensor.h",
    "tests/ops/op_cases.cpp",
};

std::string golden_file(const std::string& name) { return std::string(KEYWAY_CODEGEN_GOLDENS) + "/" + name; }

using Files = std::map<std::string, std::string>;

Files generate(const std::string& schemas) {
  Diagnostics diagnostics;
  const auto families = build_model({{"tests/codegen/goldens/fixture.json", schemas}}, {}, diagnostics);
  INFO(diagnostics.str());
  REQUIRE(families.has_value());
  Files files;
  for (OutputFile& file : emit_all(*families)) files[file.path] = std::move(file.text);
  return files;
}

// The files whose text changes with the schemas.
std::set<std::string> rewritten(const std::string& from, const std::string& to) {
  std::string changed = read_file(golden_file("fixture.json"));
  const auto place = changed.find(from);
  REQUIRE(place != std::string::npos);
  REQUIRE(changed.find(from, place + 1) == std::string::npos);
  const Files before = generate(changed);
  const Files after = generate(changed.replace(place, from.size(), to));
  std::set<std::string> names;
  for (const auto& [name, text] : after)
    if (before.count(name) == 0 || before.at(name) != text) names.insert(name);
  for (const auto& [name, text] : before)
    if (after.count(name) == 0) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("the generated operator API of the fixture is the golden one", "[goldens]") {
  const Files files = generate(read_file(golden_file("fixture.json")));
  for (const char* name : kGoldens) {
    INFO(name);
    REQUIRE(files.count(name) == 1);
    if (std::getenv("KEYWAY_UPDATE_GOLDENS")) write_if_changed(golden_file(name), files.at(name));
    CHECK(read_file(golden_file(name)) == files.at(name));
  }
}

TEST_CASE("no line of the generated operator API is too long, and none ends in blanks") {
  const Files files = generate(read_file(golden_file("fixture.json")));
  for (const char* name : kGoldens) {
    const std::string& text = files.at(name);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      INFO(name << ": " << line);
      CHECK(line.size() <= 120);
      CHECK((line.empty() || line.back() != ' '));
      begin = end + 1;
    }
  }
}

TEST_CASE("a sentence of documentation rewrites the headers that quote it, and no table's signature") {
  const auto names = rewritten("Mean of each window.", "The mean of each window.");
  CHECK(names.count("ops/fixture.h") == 1);
  CHECK(names.count("ops/fixture_entries.h") == 0);
  CHECK(names.count("ops/methods.h") == 0);
  CHECK(names.count("tensor.h") == 0);  // avg_pool2d is no method
  CHECK(names.count("autograd/fixture.cpp") == 0);
}

TEST_CASE("a derivative rewrites no header that users include") {
  const auto names = rewritten("grad * conj(alpha)", "grad * alpha");
  CHECK(std::ranges::none_of(names, [](const std::string& name) {
    return name == "tensor.h" || (name.starts_with("ops/") && name.ends_with(".h"));
  }));
}

TEST_CASE("a new default of an argument rewrites declarations, and no definition of a method") {
  const auto names = rewritten("int dim=-1, bool descending=False", "int dim=0, bool descending=False");
  CHECK(names.count("ops/fixture.h") == 1);
  CHECK(names.count("tensor.h") == 1);
  CHECK(names.count("ops/methods.h") == 0);
}
