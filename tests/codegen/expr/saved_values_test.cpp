#include <keyway/codegen/expr/saved_values.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/core/schema/literal.h>
#include <keyway/tests/catch.h>

using namespace keyway;

namespace {

// Of whatever a formula gives to it.
constexpr FunctionSchema kHelpers[] = {
    schema_literal<"f.a(Tensor a) -> Tensor">,
    schema_literal<"f.b(Tensor a, Tensor[] b, int[] c) -> Tensor">,
    schema_literal<"f.c(Tensor a, bool[] b, int[] c, ScalarType d) -> Tensor">,
    schema_literal<"f.d(Tensor a, Tensor b, Tensor c) -> Tensor">,
    schema_literal<"f.e(Tensor a, int[] b, int? c=None) -> Tensor">,
    schema_literal<"f.f(Tensor a, ScalarType b) -> Tensor">,
    schema_literal<"f.g(Tensor a, int b, int? c=None) -> Tensor">,
    schema_literal<"f.h(Tensor a, int[][] b, int c) -> Tensor">,
    schema_literal<"f.i(int[] a, Tensor b) -> Tensor">,
};

// "kind name: expression", one a value.
std::string saved_by(std::string_view text) {
  constexpr FunctionSchema kOp = schema_literal<
      "op(Tensor self, Tensor other, Tensor? weight, Tensor[] tensors, int dim, Scalar alpha, int[] list) -> "
      "Tensor">;
  Scope scope;
  for (const Parameter& parameter : signature_of(kOp).parameters)
    scope.add({parameter.name, parameter.type, ExprRole::Argument});
  scope.add({"result", of_base(ExprBase::Tensor), ExprRole::Result});
  scope.add({"grad", of_base(ExprBase::Tensor), ExprRole::Gradient});
  scope.add({"needs", of_base(ExprBase::Bool).list(), ExprRole::Needs});
  FunctionTable table;
  for (const FunctionSchema helper : kHelpers) table.add_helper(helper);
  std::string out;
  for (const SavedValue& value : saved_values(check_expr(parse_expr(text), ExprContext::Derivative, scope, table))) {
    constexpr const char* kKinds[] = {"input", "output", "metadata", "value"};
    out += std::string(out.empty() ? "" : "; ") + kKinds[static_cast<int>(value.kind)] + " " + value.name + ": " +
           to_text(*value.expr);
  }
  return out;
}

}  // namespace

TEST_CASE("a formula saves what it names, and no more") {
  CHECK(saved_by("grad").empty());
  CHECK(saved_by("grad * self") == "input self: self");
  CHECK(saved_by("grad * result") == "output result: result");
  CHECK(saved_by("grad * alpha") == "value alpha: alpha");
  CHECK(saved_by("f(grad, tensors, list)") == "input tensors: tensors; value list: list");
  CHECK(saved_by("f(grad, needs, grad.sizes(), int64)").empty());
  CHECK(saved_by("f(grad, self, self)") == "input self: self");
}

TEST_CASE("asking a tensor for metadata saves the answer, not the tensor") {
  CHECK(saved_by("f(grad, self.sizes())") == "metadata self_sizes: self.sizes()");
  CHECK(saved_by("f(grad, other.dtype())") == "metadata other_dtype: other.dtype()");
  CHECK(saved_by("f(grad, self.size(0), self.size(-1))") ==
        "metadata self_size_0: self.size(0); metadata self_size_m1: self.size(-1)");
  CHECK(saved_by("f(grad, self.size(dim))") == "metadata self_size_dim: self.size(dim)");
  CHECK(saved_by("f(grad, tensors.sizes(), len(tensors))") ==
        "metadata tensors_sizes: tensors.sizes(); metadata len_tensors: len(tensors)");
  CHECK(saved_by("weight == None ? grad : f(grad)") == "metadata weight_None: weight == None");
  CHECK(saved_by("f(grad, self.size(grad.dim()))") == "input self: self");  // not known in the forward call
}

TEST_CASE("a tensor that is saved answers for its metadata itself") {
  CHECK(saved_by("f(grad * self, self.sizes(), self.size(dim))") == "input self: self; value dim: dim");
  CHECK(saved_by("f(self.sizes(), grad * self)") == "input self: self");
}
