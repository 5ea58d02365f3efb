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

TEST_CASE("arguments may have the names that apply() has for its own") {
  const BuildResult built = build(file_of(R"~({
    "func": "f(Tensor grad, Tensor grads, Tensor needs, Tensor gradients, Tensor[] grad_inputs) -> Tensor",
    "kernels": ["CPU"], "derivatives": { "grads": "grad_result * grad * grads", "needs, gradients":
    "(grad_result * needs, gradients)" }, "doc": "F.", "example": "f([1.0], [1.0], [1.0], [1.0], []) == [1.0]" })~"));
  INFO(built.errors);
  REQUIRE(built.families.has_value());
  const std::string text = emit_autograd(built.families->front());
  for (const char* line : {"const Tensor& grad__ = grads[0];", "const Tensor grad = grad_.unpack(*this);",
                           "const Tensor grads__ = grads_.unpack(*this);", "grad_inputs[0] = grad__ * grad * grads__;",
                           "auto gradients = std::tuple(Tensor(grad__ * needs__), Tensor(gradients__));"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("None and empty lists that are chosen have the type of the other") {
  const BuildResult built = build(R"~({ "doc": "Tests.", "helpers": [
    { "func": "g(Tensor grad, int? n, int[]? dims, Tensor[] list) -> Tensor", "doc": "G." }], "ops": [
    { "func": "f(Tensor self, int? n, int[]? dims, Tensor[] list) -> Tensor", "kernels": ["CPU"], "derivatives":
    { "self": "g(grad, n == None ? None : n, dims == None ? dims : None, n == None ? [] : list)" },
    "doc": "F.", "example": "f([1.0], 1, [], []) == [1.0]" }] })~");
  INFO(built.errors);
  REQUIRE(built.families.has_value());
  const std::string text = emit_autograd(built.families->front());
  for (const char* part : {"!n_.has_value() ? std::nullopt : std::optional<std::int64_t>(*n_)", "dims_ : std::nullopt",
                           "!n_.has_value() ? variable_list{} : list"}) {
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("a loop asks its result for its dtype, whatever its name") {
  const Op op = build_op(R"~({ "func": "f(Tensor self, Tensor out) -> Tensor", "pointwise": "F",
    "dtypes": "integers_to_int64", "variants": ["function"], "derivatives": {}, "doc": "F.",
    "example": "f([1.0], [1.0]) == [1.0]" })~");
  const std::string loops = emit_cpu_loops({"t", "t.json", {}, {}, {op}, {}, {}}).front();
  CHECK(loops.find("if (out_.dtype() == ScalarType::Long)") != std::string::npos);
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
