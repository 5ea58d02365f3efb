// Libraries out of tree: what their entries may say, and what is generated of them.
#include <keyway/codegen/emit/emitter.h>
#include <keyway/tests/codegen/test_files.h>

#include <map>

using namespace keyway;

namespace {

const std::string kKeyway = testing::file_of(
    R"({ "func": "mul.Tensor(Tensor self, Tensor other) -> Tensor", "pointwise": "Mul", "derivatives": {}, )"
    R"("doc": "Product.", "example": "mul(2, 3) == 6" },)"
    "\n"
    R"({ "func": "neg(Tensor self) -> Tensor", "pointwise": "Neg", "derivatives": {}, )"
    R"("doc": "Negative.", "example": "neg(1) == -1" })");

std::string entry(const std::string& func, const std::string& keys, const std::string& example) {
  return R"({ "func": ")" + func + R"(",)" + "\n" + keys + R"(, "doc": "Does.", "example": ")" + example + R"(" })";
}

testing::BuildResult build_library(const std::string& entries) {
  Diagnostics diagnostics;
  auto families = build_model({{"my_ops.json", testing::file_of(entries)}}, diagnostics, {{"binary.json", kKeyway}});
  return {std::move(families), diagnostics.str()};
}

std::map<std::string, std::string> generate(const std::string& entries) {
  const auto result = build_library(entries);
  INFO(result.errors);
  REQUIRE(result.families.has_value());
  std::map<std::string, std::string> files;
  for (OutputFile& file : emit_all(*result.families)) files[file.path] = std::move(file.text);
  return files;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const std::string kCube = entry(
    "my::cube(Tensor self) -> Tensor",
    R"~("pointwise": "Cube", "derivatives": { "self": "3 * mul(grad, neg(self)) * cube(self)" })~", "cube(2) == 8");
const std::string kNeg = entry("my::neg(Tensor self) -> Tensor", R"("composite": "neg")", "neg(1) == -1");

}  // namespace

TEST_CASE("what is generated of a library stands in its folder and namespace, and is called there") {
  const auto files = generate(kCube);
  std::vector<std::string> names;
  for (const auto& [name, text] : files) names.push_back(name);
  CHECK(names == std::vector<std::string>{
                     "my/assembly/op_list.cpp", "my/assembly/wrappers_my_ops.cpp", "my/autograd/helpers.h",
                     "my/autograd/kernels_my_ops.h", "my/autograd/my_ops.cpp", "my/backends/cpu/kernels_my_ops.h",
                     "my/backends/cpu/loops_my_ops_0.cpp", "my/backends/cuda/kernels/kernels_my_ops.h",
                     "my/backends/cuda/kernels/loops_my_ops_0.cu", "my/backends/cuda/kernels/register_kernels.cpp",
                     "my/docs/ops/my_ops.md", "my/ops/all.h", "my/ops/my_ops.h", "my/ops/my_ops_entries.h",
                     "my/tests/ops/op_cases.cpp"});
  CHECK(contains(files.at("my/ops/my_ops.h"), "#include <my/ops/my_ops_entries.h>\n\nnamespace my {\n"));
  CHECK(contains(files.at("my/ops/my_ops_entries.h"), "\nnamespace my::ops {\n"));
  CHECK(contains(files.at("my/backends/cpu/loops_my_ops_0.cpp"), "#include <my/ops/functors/my_ops.h>\n"));
  CHECK(contains(files.at("my/autograd/my_ops.cpp"), "3 * keyway::mul(grad, keyway::neg(self)) * my::cube(self);"));
  CHECK(contains(files.at("my/assembly/op_list.cpp"),
                 "[[gnu::init_priority(1000)]] const OpLibrary library(OpList{kOps, std::size(kOps)});"));
}

TEST_CASE("kernels of CUDA that a library has are registered as the library is loaded") {
  const auto files = generate(kCube);
  CHECK(contains(files.at("my/backends/cuda/kernels/loops_my_ops_0.cu"), "using namespace keyway::cuda;\n"));
  CHECK(contains(files.at("my/backends/cuda/kernels/register_kernels.cpp"),
                 "KEYWAY_LIBRARY_IMPL(my, CUDA, m) {\n  serve<\"my::cube\", cube>(m, \"cuda::cube\");\n}\n"));
  const std::string ruled =
      entry("my::f(Tensor self) -> Tensor", R"("kernels": ["CPU"], "derivatives": {})", "f(1) == 1");
  CHECK_FALSE(generate(ruled).contains("my/backends/cuda/kernels/register_kernels.cpp"));
}

TEST_CASE("the headers that a library's author writes are asked for by name") {
  const auto files = generate(
      kCube + ",\n" + entry("my::f(Tensor self) -> Tensor", R"("kernels": ["CPU"], "derivatives": {})", "f(1) == 1"));
  CHECK(contains(files.at("my/assembly/wrappers_my_ops.cpp"),
                 "#if !__has_include(<my/ops/rules/my_ops.h>)\n#error \"The rules of my_ops.json belong in "
                 "<my/ops/rules/my_ops.h>, which is in no include folder of the library\"\n#endif\n"));
  for (const char* const loops : {"my/backends/cpu/loops_my_ops_0.cpp", "my/backends/cuda/kernels/loops_my_ops_0.cu"})
    CHECK(contains(files.at(loops), "#error \"The functors of my_ops.json belong in <my/ops/functors/my_ops.h>, "));
}

TEST_CASE("the geometry of a library's views is its own") {
  const auto files = generate(entry("my::turn(Tensor(a) self) -> Tensor(a)",
                                    R"~("view": "turn", "derivatives": { "self": "turn(grad)" })~", "turn(1) == 1"));
  const std::string& wrappers = files.at("my/assembly/wrappers_my_ops.cpp");
  CHECK(contains(wrappers, "#include <my/ops/rules/my_ops.h>\n"));
  CHECK(contains(wrappers, "return rules::turn(self);"));
  CHECK(contains(files.at("my/autograd/my_ops.cpp"), "as_view(self, result_, view_creation());"));
}

TEST_CASE("a library's operators have no methods, and hide Keyway's of their name") {
  const auto files = generate(kCube + ",\n" + kNeg);
  CHECK(contains(files.at("my/ops/my_ops.h"), "inline Tensor& cube_(Tensor& self)"));
  CHECK(contains(files.at("my/autograd/my_ops.cpp"), "3 * keyway::mul(grad, my::neg(self)) * my::cube(self);"));
  const std::string method =
      entry("my::f(Tensor self) -> Tensor", R"("composite": "f", "variants": ["function", "method"])", "f(1) == 1");
  CHECK(build_library(method).errors ==
        "my_ops.json:3:44: error: my::f: the variant 'method' needs a positional Tensor argument 'self', and no "
        "namespace in front of the name\n");
}

TEST_CASE("a library's operators stand in one namespace of its own") {
  CHECK(build_library(entry("f(Tensor self) -> Tensor", R"("composite": "f")", "f(1) == 1")).errors ==
        "my_ops.json:2:11: error: f: an operator of a library has its namespace in front: 'my::f(...)'\n");
  CHECK(build_library(entry("keyway::f(Tensor self) -> Tensor", R"("composite": "f")", "f(1) == 1")).errors ==
        "my_ops.json:2:11: error: keyway::f: the namespace 'keyway' is not a library's to add to\n");
  CHECK(build_library(kCube + ",\n" + entry("your::f(Tensor self) -> Tensor", R"("composite": "f")", "f(1) == 1"))
            .errors ==
        "my_ops.json:4:11: error: your::f: the operators of a library are in one namespace; the first is in 'my'\n");
}

TEST_CASE("a library without operators is an error") {
  CHECK(build_library("").errors == "my_ops.json:1:1: error: no operator\n");
}

TEST_CASE("what a library cannot use yet is said where it stands") {
  CHECK(build_library(entry("my::f(Tensor self) -> Tensor",
                            R"("kernels": ["CPU"], "requires": ["neg(self).dim() == 1"], "derivatives": {})",
                            "f(1) == 1"))
            .errors == "my_ops.json:3:34: error: my::f: a contract of a library's operator cannot call an operator\n");
}
