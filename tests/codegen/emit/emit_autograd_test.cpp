#include <keyway/codegen/emit/autograd_plan.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/tests/codegen/emit/goldens.h>

#include <sstream>

namespace keyway::inline v1::testing {
namespace {

// A file with one entry and a helper that it calls.
std::string with_sum_to(const std::string& entry) {
  return R"~({ "doc": "Tests.",
  "helpers": [{ "func": "sum_to(Tensor grad, int[] sizes) -> Tensor", "doc": "Sums." }],
  "ops": [)~" +
         entry + "]}";
}

TEST_CASE("nodes and kernels of the fixture are the goldens", "[golden]") {
  const BuildResult built = build_golden("autograd_fixture.json");
  INFO(built.errors);
  REQUIRE(built.families.has_value());
  check_golden("autograd_fixture.cpp.golden", emit_autograd(built.families->front()));
  check_golden("kernels_autograd_fixture.h.golden", emit_autograd_kernels(built.families->front()));
}

TEST_CASE("each wrong formula gets its error", "[golden]") {
  const BuildResult built = build_golden("wrong_formulas.json");
  CHECK(!built.families.has_value());
  check_golden("wrong_formulas.txt", built.errors);
}

TEST_CASE("#line names the line of the formula, and then that of the generated file") {
  const std::string text = emit_autograd(build_golden("autograd_fixture.json").families->front());
  std::istringstream lines(text);
  int number = 0;
  int backs = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.starts_with("#line") || line.find("keyway/autograd/") == std::string::npos) continue;
    CHECK(line == "#line " + std::to_string(number + 1) + " \"keyway/autograd/autograd_fixture.cpp\"");
    ++backs;
  }
  CHECK(backs == 13);
}

TEST_CASE("what a node keeps is told in the words of the schema") {
  CHECK(saved_text(op_of(with_sum_to(R"~({ "func": "f(Tensor self, Tensor other, Scalar alpha=1) -> Tensor",
    "pointwise": "F", "derivatives": { "self": "sum_to(grad * alpha, other.sizes())", "other": "grad * self" },
    "doc": "F.", "example": "f([1.0], [1.0]) == [1.0]" })~"))) == "alpha, other.sizes(), self");
}

TEST_CASE("metadata of an optional tensor is kept only where the tensor is there") {
  const BuildResult built = build(with_sum_to(R"~({ "func": "f(Tensor self, Tensor? weight=None) -> Tensor",
    "kernels": ["CPU"], "derivatives": { "self": "weight == None ? grad : sum_to(grad, [weight.size(0)])" },
    "doc": "F.", "example": "f([1.0]) == [1.0]" })~"));
  INFO(built.errors);
  REQUIRE(built.families.has_value());
  const std::string text = emit_autograd(built.families->front());
  CHECK(text.find("  if (weight.defined()) node_->weight_size_0_ = weight.size(0);\n") != std::string::npos);
  CHECK(text.find("  node_->weight_None_ = !weight.defined();\n") != std::string::npos);
}

TEST_CASE(
    "what an in-place call keeps of another argument is asked when the call has found it right, whatever its name") {
  const BuildResult built = build(with_sum_to(R"~({ "func": "f(Tensor self, Tensor yourself) -> Tensor",
    "pointwise": "F", "derivatives": { "self": "sum_to(grad, self.sizes())", "yourself": "sum_to(grad, yourself.sizes())" },
    "doc": "F.", "example": "f([1.0], [1.0]) == [1.0]" })~"));
  INFO(built.errors);
  REQUIRE(built.families.has_value());
  const std::string text = emit_autograd(built.families->front());
  const std::string recorder = text.substr(text.find("record_f_("));
  const std::size_t call = recorder.find("below_autograd");
  CHECK(recorder.find("= self.sizes()") < call);
  CHECK(recorder.find("= yourself.sizes()") > call);
  CHECK(recorder.find("= yourself.sizes()") < recorder.find("\n}"));
}

}  // namespace
}  // namespace keyway::inline v1::testing
