// Helpers: declared in one file, called in any.
#include <keyway/codegen/emit/emitter.h>
#include <keyway/tests/codegen/test_files.h>

#include <algorithm>

using namespace keyway;

namespace {

// An entry whose derivative is `formula`, in a file with these helpers.
std::string file_with(const std::string& helpers, const std::string& formula) {
  return R"~({ "doc": "Tests.", "helpers": [
)~" + helpers +
         R"~(
], "ops": [
{ "func": "f(Tensor self, Tensor other) -> Tensor", "kernels": ["CPU"], "variants": ["function"],
  "derivatives": { "self": ")~" +
         formula +
         R"~(" }, "doc": "Does.", "example": "f(1, 1) == 1" }
]}
)~";
}

std::string helper(const std::string& func) { return R"~({ "func": ")~" + func + R"~(", "doc": "Gives." })~"; }

std::string errors_of(const std::string& helpers, const std::string& formula) {
  return testing::build(file_with(helpers, formula)).errors;
}

std::string declared(const std::vector<Family>& families) {
  const auto files = emit_all(families);
  const auto found = std::ranges::find(files, "autograd/helpers_test.h", &OutputFile::path);
  return found == files.end() ? std::string() : found->text;
}

}  // namespace

TEST_CASE("a helper is declared as its schema says, an absent tensor as an undefined one") {
  const auto built = testing::build(file_with(
      helper("g.A(Tensor grad, Tensor? other, int[] sizes, int[][] all, bool[] needs=[], str mode='a') -> Tensor"),
      "g(grad, other, self.sizes(), [self.sizes()])"));
  CHECK(built.errors == "");
  REQUIRE(built.families.has_value());
  CHECK(
      declared(*built.families)
          .find(
              "// Gives.\n"
              "// g.A(Tensor grad, Tensor? other, int[] sizes, int[][] all, bool[] needs=[], str mode='a') -> Tensor\n"
              "KEYWAY_API Tensor g(const Tensor& grad, const Tensor& other, IntArrayRef sizes, ArrayRef<DimVector> "
              "all,\n"
              "                    ArrayRef<bool> needs = {}, std::string_view mode = \"a\");\n") != std::string::npos);
}

TEST_CASE("a helper of one file may be called in another, and one of a library hides Keyway's") {
  const std::string keyway = file_with(helper("g(Tensor grad) -> Tensor"), "g(grad)");
  const std::string plain = R"~({ "doc": "Tests.", "ops": [
{ "func": "NSh(Tensor self) -> Tensor", "kernels": ["CPU"], "derivatives": { "self": "g(grad)" }, "doc": "Does.",
  "example": "h(1) == 1" }
]}
)~";
  const auto with = [&](std::string ns) {
    std::string text = plain;
    return text.replace(text.find("NS"), 2, ns);
  };
  Diagnostics diagnostics;
  CHECK(build_model({{"keyway.json", keyway}, {"other.json", with("")}}, diagnostics).has_value());
  CHECK(build_model({{"my.json", with("my::")}}, diagnostics, {{"keyway.json", keyway}}).has_value());
  std::string own = with("my::");
  own.replace(own.find("\"ops\""), 0,
              R"~("helpers": [{ "func": "g(Tensor a, Tensor b) -> Tensor", "doc": "Gives." }], )~");
  CHECK(diagnostics.str().empty());
  CHECK_FALSE(build_model({{"my.json", own}}, diagnostics, {{"keyway.json", keyway}}).has_value());
  CHECK(diagnostics.str() == "my.json:2:89: error: my::h: g: argument 'b' is missing\n");
}

TEST_CASE("mistakes in helpers") {
  CHECK(errors_of(helper("f(Tensor grad) -> Tensor"), "f(grad)") ==
        "test.json:2:11: error: f: formulas have an operator or a word of that name, and would call that\n");
  CHECK(errors_of(helper("len(Tensor grad) -> Tensor"), "grad") ==
        "test.json:2:11: error: len: formulas have an operator or a word of that name, and would call that\n");
  CHECK(errors_of(helper("g(Tensor grad) -> Tensor"), "grad") ==
        "test.json:2:11: error: g: no formula calls this helper\n");
  CHECK(errors_of(helper("g(Tensor grad) -> Tensor") + ", " + helper("g(Tensor grad) -> Tensor"), "g(grad)") ==
        "test.json:2:68: error: g: stands already at test.json:2:11\n");
  CHECK(errors_of(helper("g(Tensor grad) -> Tensor") + ", " + helper("a(Tensor grad) -> Tensor"), "a(g(grad))") ==
        "test.json:2:68: error: a: helpers are sorted by name: this one stands before g\n");
  CHECK(errors_of(helper("my::g(Tensor grad) -> Tensor"), "g(grad)") ==
        "test.json:2:11: error: my::g: a helper has no namespace\n");
  CHECK(errors_of(helper("g(Tensor(a!) grad) -> Tensor(a!)"), "g(grad)") ==
        "test.json:2:11: error: g: a helper gives new values, and changes no argument\n");
  CHECK(errors_of(R"~({ "func": "g(Tensor grad) -> Tensor" })~", "g(grad)") ==
        "test.json:2:1: error: the key 'doc' is missing\n"
        "test.json:5:29: error: f: no operator, predicate or helper 'g'\n");
  CHECK(errors_of(helper("prod_backward(Tensor grad) -> Tensor"), "prod_backwrd(grad)") ==
        "test.json:5:29: error: f: no operator, predicate or helper 'prod_backwrd'; did you mean 'prod_backward'?\n");
  CHECK(errors_of("1", "grad") == "test.json:2:1: error: an item of 'helpers' is a number, not an object\n");
}
