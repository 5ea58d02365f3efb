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
    "assembly/wrappers_more.cpp",
    "autograd/helpers.h",
    "autograd/helpers_fixture.h",
    "backends/cpu/kernels_fixture.h",
    "backends/cpu/kernels_more.h",
    "backends/cpu/loops_fixture_0.cpp",
    "backends/cuda/graph/functors.cpp",
    "backends/cuda/kernels/loops_fixture_0.cu",
    "backends/cuda/kernels/register_kernels.cpp",
    "ops/all.h",
    "ops/fixture.h",
    "ops/fixture_composites.h",
    "ops/fixture_entries.h",
    "ops/methods.h",
    "ops/more.h",
    "ops/more_composites.h",
    "ops/more_entries.h",
    "ops/tensor_operators.h",
    "python/_C/_operators.pyi",
    "python/api_names.cpp",
    "tensor.h",
    "tests/ops/op_cases.cpp",
};

std::string golden_file(const std::string& name) { return std::string(KEYWAY_CODEGEN_GOLDENS) + "/" + name; }

using Files = std::map<std::string, std::string>;

// The families in the order of their texts.
Files generate(const std::map<std::string, std::string>& schemas) {
  std::vector<SourceFile> texts;
  for (const auto& [family, text] : schemas) texts.push_back({"tests/codegen/goldens/" + family + ".json", text});
  Diagnostics diagnostics;
  const auto families = build_model(texts, diagnostics);
  INFO(diagnostics.str());
  REQUIRE(families.has_value());
  Files files;
  for (OutputFile& file : emit_all(*families)) files[file.path] = std::move(file.text);
  return files;
}

using Schemas = std::map<std::string, std::string>;

Schemas fixture_schemas() {
  Schemas schemas;
  for (const char* family : {"fixture", "more", "second"})
    schemas[family] = read_file(golden_file(std::string(family) + ".json"));
  return schemas;
}

Files generate_fixture() { return generate(fixture_schemas()); }

// The files whose text changes with that of one family, beside another one.
std::set<std::string> rewritten(const std::string& family, const std::string& from, const std::string& to) {
  Schemas schemas = fixture_schemas();
  std::string& changed = schemas.at(family);
  const auto at = changed.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  REQUIRE(changed.find(from, at + 1) == std::string::npos);
  const Files before = generate(schemas);
  changed.replace(at, from.size(), to);
  const Files after = generate(schemas);
  std::set<std::string> names;
  for (const auto& [name, text] : after)
    if (before.count(name) == 0 || before.at(name) != text) names.insert(name);
  for (const auto& [name, text] : before)
    if (after.count(name) == 0) names.insert(name);
  return names;
}

bool is_of(const std::string& family, const std::string& file) { return file.find(family) != std::string::npos; }

struct Edit {
  const char* family;
  const char* from;
  const char* to;
};

// One of each part of an entry, in all families; the last ones add and take away an operator.
constexpr Edit kEdits[] = {
    {"more", "Mean of each window.", "The mean of each window."},
    {"fixture", "grad * conj(alpha)", "conj(alpha) * grad"},
    {"fixture", "\"pointwise\": \"Add\"", "\"pointwise\": \"Sub\""},
    {"more", "\"step != 0\"", "\"step > 0\""},
    {"fixture", "int dim=-1, bool descending=False", "int dim=0, bool descending=False"},
    {"fixture", "add([1, 2], [3, 4], alpha=10) == [31, 42]", "add([1, 2], [3, 4], alpha=20) == [61, 82]"},
    {"second", "\"pointwise\": \"Neg\"", "\"pointwise\": \"Negative\""},
    {"second", "\"t(grad)\"", "\"t(t(t(grad)))\""},
    {"second", "A matrix with rows", "The matrix with rows"},
    {"second", "-self.dim() <= dim < self.dim()", "0 <= dim < self.dim()"},
    {"second", "\"integers_to_int64\"", "\"same\""},
    {"second", "neg(Tensor self) -> Tensor", "neg(Tensor self, *, int by=1) -> Tensor"},
    {"second", "\n]}",
     ",\n{ \"func\": \"zeta(Tensor self) -> Tensor\", \"composite\": \"zeta\", \"doc\": \"Zeta.\",\n"
     "  \"example\": \"zeta(2) == 1\" }\n]}"},
};

}  // namespace

TEST_CASE("the generated operator API of the fixture is the golden one", "[goldens]") {
  const Files files = generate_fixture();
  for (const char* name : kGoldens) {
    INFO(name);
    REQUIRE(files.count(name) == 1);
    if (std::getenv("KEYWAY_UPDATE_GOLDENS")) write_if_changed(golden_file(name), files.at(name));
    CHECK(read_file(golden_file(name)) == files.at(name));
  }
}

TEST_CASE("no line of the generated operator API is too long, and none ends in blanks") {
  const Files files = generate_fixture();
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
  const auto names = rewritten("more", "Mean of each window.", "The mean of each window.");
  CHECK(names.count("ops/more.h") == 1);
  CHECK(names.count("ops/more_entries.h") == 0);
  CHECK(names.count("ops/methods.h") == 0);
  CHECK(names.count("tensor.h") == 0);  // avg_pool2d is no method
  CHECK(names.count("autograd/more.cpp") == 0);
}

TEST_CASE("a derivative rewrites no header that users include") {
  const auto names = rewritten("fixture", "grad * conj(alpha)", "conj(alpha) * grad");
  CHECK(std::ranges::none_of(names, [](const std::string& name) {
    return name == "tensor.h" || (name.starts_with("ops/") && name.ends_with(".h"));
  }));
}

TEST_CASE("a new default of an argument rewrites declarations, and no definition of a method") {
  const auto names = rewritten("fixture", "int dim=-1, bool descending=False", "int dim=0, bool descending=False");
  CHECK(names.count("ops/fixture.h") == 1);
  CHECK(names.count("tensor.h") == 1);
  CHECK(names.count("ops/methods.h") == 0);
}

TEST_CASE("editing one operator rewrites files of its family only, and those that list all operators") {
  // What all families are in. Everything else is a file of one.
  const std::set<std::string> whole = {
      "assembly/op_list.cpp",
      "assembly/plans.h",
      "autograd/helpers.h",
      "backends/cuda/graph/functors.cpp",
      "backends/cuda/kernels/register_kernels.cpp",
      "ops/all.h",
      "ops/methods.h",
      "ops/tensor_operators.h",
      "python/_C/_nn.pyi",
      "python/_C/_operators.pyi",
      "python/api_names.cpp",
      "python/return_types.pyi",
      "tensor.h",
      "tests/ops/op_cases.cpp",
  };
  std::map<std::string, int> files;
  for (const auto& [name, text] : generate_fixture()) {
    INFO(name);
    CHECK(is_of("fixture", name) + is_of("more", name) + is_of("second", name) + whole.count(name) == 1);
    ++files[is_of("fixture", name)  ? "fixture"
            : is_of("more", name)   ? "more"
            : is_of("second", name) ? "second"
                                    : "whole"];
  }
  CHECK(files == std::map<std::string, int>{{"fixture", 12}, {"more", 8}, {"second", 11}, {"whole", 14}});

  for (const Edit& edit : kEdits) {
    INFO(edit.family << ": " << edit.from << " becomes " << edit.to);
    int own = 0;
    for (const std::string& name : rewritten(edit.family, edit.from, edit.to)) {
      INFO(name);
      CHECK((is_of(edit.family, name) || whole.count(name) == 1));
      own += is_of(edit.family, name);
    }
    CHECK(own > 0);
  }
}

TEST_CASE("a functor, a derivative and a contract rewrite what is made of them, and the texts that quote them") {
  using Names = std::set<std::string>;
  CHECK(rewritten("second", "\"pointwise\": \"Neg\"", "\"pointwise\": \"Negative\"") ==
        Names{"assembly/wrappers_second.cpp", "backends/cpu/loops_second_0.cpp", "backends/cuda/graph/functors.cpp",
              "backends/cuda/kernels/loops_second_0.cu"});
  CHECK(rewritten("second", "\"t(grad)\"", "\"t(t(t(grad)))\"") == Names{"autograd/second.cpp", "docs/ops/second.md"});
  CHECK(rewritten("second", "-self.dim() <= dim < self.dim()", "0 <= dim < self.dim()") ==
        Names{"assembly/wrappers_second.cpp", "docs/ops/second.md", "ops/second.h", "python/api_names.cpp"});
}
