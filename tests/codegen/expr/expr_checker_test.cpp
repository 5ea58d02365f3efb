#include <keyway/codegen/expr/expr_checker.h>
#include <keyway/codegen/expr/expr_error.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/core/schema/literal.h>
#include <keyway/tests/catch.h>

using namespace keyway;

namespace {

constexpr FunctionSchema kOp = schema_literal<
    "op(Tensor self, Tensor? weight, Tensor[] tensors, Tensor?[] indices, int n, int? k, int[] list, "
    "int[2]? pair, float p, bool flag, bool? train, Scalar alpha, str mode, ScalarType? dtype) -> Tensor">;

Scope scope() {
  Scope scope;
  for (const Parameter& parameter : signature_of(kOp).parameters)
    scope.add({parameter.name, parameter.type, ExprRole::Argument});
  scope.add({"grad", of_base(ExprBase::Tensor), ExprRole::Gradient});
  return scope;
}

FunctionTable functions() {
  FunctionTable table;
  table.add_operator(schema_literal<"mm(Tensor self, Tensor mat2) -> Tensor">);
  table.add_operator(schema_literal<"mul.Tensor(Tensor self, Tensor other) -> Tensor">);
  table.add_operator(schema_literal<"pool(Tensor self, int[2] kernel, *, bool ceil=False) -> (Tensor, Tensor)">);
  table.add_operator(schema_literal<"max(Tensor self) -> Tensor">);
  table.add_helper(schema_literal<"sum_to(Tensor grad, int[] sizes) -> Tensor">);
  table.add_helper(schema_literal<"conj.Scalar(Scalar value) -> Scalar">);
  table.add_helper(schema_literal<"conj.Tensor(Tensor self) -> Tensor">);
  return table;
}

CheckedExpr checked(std::string_view text, ExprContext context) {
  return check_expr(parse_expr(text), context, scope(), functions());
}

std::string type_in(ExprContext context, std::string_view text) {
  try {
    return to_string(checked(text, context).type());
  } catch (const ExprError& error) {
    return std::to_string(error.offset() + 1) + ": " + error.what();
  }
}
std::string contract(std::string_view text) { return type_in(ExprContext::Contract, text); }
std::string formula(std::string_view text) { return type_in(ExprContext::Derivative, text); }

}  // namespace

TEST_CASE("numbers widen, and formulas do not divide ints") {
  CHECK(contract("n + 1") == "int");
  CHECK(contract("n * p") == "float");
  CHECK(contract("alpha - n") == "Scalar");
  CHECK(contract("n / 2") == "int");
  CHECK(contract("n / 2.0") == "float");
  CHECK(formula("1.0 / n") == "float");
  CHECK(formula("1 / n") == "3: '/' of two ints drops the remainder; make one a float, as in 1.0 / n");
  CHECK(contract("-n % 3") == "int");
  CHECK(contract("flag ? n : p") == "float");
  CHECK(contract("n + mode") == "3: '+' has no meaning between int and str");
}

TEST_CASE("lists compute elementwise, and equality compares them whole") {
  CHECK(contract("2 * list + 1") == "int[]");
  CHECK(contract("list > 0") == "bool[]");
  CHECK(contract("list < list") == "bool[]");
  CHECK(contract("all(list > 0)") == "bool");
  CHECK(contract("list == [1, 2]") == "bool");
  CHECK(contract("list == 1") == "bool[]");
  CHECK(contract("max(list, 2)") == "int[]");
  CHECK(contract("max(list)") == "int");
  CHECK(contract("is_dim(list, n)") == "bool[]");
  CHECK(contract("list[0]") == "int");
  CHECK(contract("list[1:]") == "int[]");
  CHECK(contract("[]") == "unknown[]");
  CHECK(contract("list > 0 && flag") == "10: '&&' wants bools, but its left is bool[]; say all(...) or any(...)");
  CHECK(contract("[1, 'a']") == "5: a list holds one type, but here are int and str");
}

TEST_CASE("a method maps over lists and optionals") {
  CHECK(contract("self.sizes()") == "int[]");
  CHECK(contract("self.size(-1)") == "int");
  CHECK(contract("tensors.dim()") == "int[]");
  CHECK(contract("tensors.sizes()") == "int[][]");
  CHECK(contract("weight.sizes()") == "int[]?");
  CHECK(contract("indices.dtype()") == "dtype?[]");
  CHECK(contract("all(indices.dtype() in {int64, bool})") == "bool");
  CHECK(contract("self.sises()") == "6: Tensor has no method 'sises'; did you mean 'sizes'?");
  CHECK(contract("self.size()") == "6: the method 'size' does not take ()");
  CHECK(contract("n.dim()") == "3: int has no method 'dim'");
}

TEST_CASE("what may be None computes nothing until it is tested") {
  CHECK(contract("k + 1") == "3: the left of '+' may be None here; test it first");
  CHECK(contract("k == None || k > 1") == "bool");
  CHECK(contract("k != None && k > 1") == "bool");
  CHECK(contract("!(k == None) && k > 1") == "bool");
  CHECK(contract("k != None ? k : 0") == "int");
  CHECK(contract("k == None ? 0 : k + 1") == "int");
  CHECK(contract("k == None && k > 1") == "16: the left of '>' may be None here; test it first");
  CHECK(contract("are_dims(pair, n)") == "10: are_dims: argument 'dims' may be None here; test it first");
  CHECK(contract("pair == None || are_dims(pair, n)") == "bool");
  CHECK(contract("train == False") == "bool");
  CHECK(contract("weight == None || weight.sizes() == list") == "bool");
  CHECK(contract("self == None") == "6: Tensor is never None here");
}

TEST_CASE("contracts are over metadata, `values` over data, formulas over tensors") {
  CHECK(contract("self > 0") == "6: '>' would read the data of a Tensor, but only metadata can be used here");
  CHECK(type_in(ExprContext::Data, "0 <= self < n") == "bool");
  CHECK(type_in(ExprContext::Data, "indexes(indices, list)") == "bool");
  CHECK(contract("indexes(indices, list)") == "1: no operator or predicate 'indexes'");
  CHECK(formula("grad * self + 1") == "Tensor");
  CHECK(formula("-grad") == "Tensor");
  CHECK(formula("grad * conj(alpha)") == "Tensor");
  CHECK(contract("conj(alpha)") == "1: no operator or predicate 'conj'");
}

TEST_CASE("calls bind to predicates, operators and helpers") {
  CHECK(formula("mm(grad, self)") == "Tensor");
  CHECK(formula("grad.mm(self)") == "Tensor");
  CHECK(formula("pool(self, 2)[1]") == "Tensor");
  CHECK(formula("pool(self, [2, 2], ceil=True)") == "(Tensor, Tensor)");
  CHECK(contract("mm(self, self).sizes() == list") == "bool");
  CHECK(formula("max(self)") == "Tensor");
  CHECK(formula("max(n, 2)") == "int");
  CHECK(formula("mul(grad, 2)") == "Tensor");  // a number stands for a Tensor in formulas
  CHECK(formula("mm(grad)") == "1: mm: argument 'mat2' is missing");
  CHECK(formula("mm(grad, self, self)") == "16: mm: takes 2 positional arguments");
  CHECK(formula("pool(self, 2, cell=True)") == "20: pool: has no argument 'cell'; did you mean 'ceil'?");
  CHECK(formula("mm(grad, list)") == "10: mm: argument 'mat2' is Tensor, but gets int[]");
  CHECK(formula("pool(self, 2)[2]") == "15: a result is picked by a number from 0 to 1");
  CHECK(contract("len(n)") == "1: no overload of 'len' takes (int)");
  CHECK(contract("is_dimm(n, n)") == "1: no operator or predicate 'is_dimm'; did you mean 'is_dim'?");
  CHECK(formula("sum_tto(grad)") == "1: no operator, predicate or helper 'sum_tto'; did you mean 'sum_to'?");
}

TEST_CASE("a number goes to the overload that takes numbers, whatever the overloads' names") {
  FunctionTable table;
  table.add_operator(schema_literal<"scatter.src(Tensor self, int dim, Tensor src) -> Tensor">);
  table.add_operator(schema_literal<"scatter.value(Tensor self, int dim, Scalar value) -> Tensor">);
  const auto called = [&](std::string_view text) {
    const CheckedExpr expr = check_expr(parse_expr(text), ExprContext::Derivative, scope(), table);
    return expr.note(expr.root()).target;
  };
  CHECK(called("scatter(grad, n, 0)") == "scatter.value");
  CHECK(called("scatter(grad, n, alpha)") == "scatter.value");
  CHECK(called("scatter(grad, n, self)") == "scatter.src");
}

TEST_CASE("formulas have fewer predicates than contracts, of single values") {
  CHECK(formula("max(n, len(list))") == "int");
  CHECK(formula("is_dim(n, n)") == "1: 'is_dim' is a predicate of contracts, which formulas have not");
  CHECK(formula("max(list)") == "1: no overload of 'max' takes (int[])");
  CHECK(formula("abs(list)") == "1: no overload of 'abs' takes (int[])");
  CHECK(formula("self.size(list)") == "6: the method 'size' does not take (int[])");
  CHECK(formula("tensors.size(0)") == "int[]");
}

TEST_CASE("what formulas call is not hidden by an argument") {
  Scope hiding = scope();
  hiding.add({"sum_to", of_base(ExprBase::Tensor), ExprRole::Argument});
  CHECK_THROWS_WITH(check_expr(parse_expr("sum_to(grad, list)"), ExprContext::Derivative, hiding, functions()),
                    "'sum_to' is a helper, but also an argument or a result of the operator, which hides it in C++");
}

TEST_CASE("a choice of None or an empty list has the type of the other") {
  CHECK(formula("flag ? None : n") == "int?");
  CHECK(formula("flag ? None : self") == "Tensor?");
  CHECK(formula("flag ? [] : tensors") == "Tensor[]");
  CHECK(contract("flag ? [] : list") == "int[]");
  CHECK(contract("flag ? n : None") == "12: None can be chosen in formulas only");
  CHECK(formula("flag ? None : None") == "6: the choice is between None and None");
  CHECK(formula("flag ? [] : [flag]") == "8: an empty list is chosen as int[] or Tensor[], but the other is bool[]");
  CHECK(contract("len(flag ? [] : tensors)") == "12: an empty list is chosen as int[], but the other is Tensor[]");
}

TEST_CASE("names resolve to arguments and constants, and a wrong one is suggested") {
  CHECK(contract("int64") == "dtype");
  CHECK(contract("strided") == "Layout");
  CHECK(contract("p < inf") == "bool");
  CHECK(contract("slef.dim()") == "1: no name 'slef' here; did you mean 'self'?");
  CHECK(contract("floating") == "1: no name 'floating' here");
  CHECK(type_in(ExprContext::DType, "floating | int64") == "set of dtypes");
  CHECK(type_in(ExprContext::DType, "dtype != None ? dtype : default_dtype()") == "dtype");
  CHECK(contract("let n = 2") == "1: the name 'n' is taken already");
  CHECK(formula("let m = 2") == "1: 'let' stands in 'requires' only");
}

TEST_CASE("a note says what a name or call turned out to be") {
  const CheckedExpr expr = checked("[mul(grad, self), conj(grad * self.size(0))]", ExprContext::Derivative);
  const auto items = children(expr.root());
  CHECK(expr.note(*items[0]).role == ExprRole::Operator);
  CHECK(expr.note(*items[0]).target == "mul.Tensor");
  CHECK(expr.note(*children(*items[0])[0]).role == ExprRole::Gradient);
  CHECK(expr.note(*children(*items[0])[1]).role == ExprRole::Argument);
  CHECK(expr.note(*items[1]).role == ExprRole::Helper);
  const ExprPtr size = children(*children(*items[1])[0])[1];
  CHECK(expr.note(*size).role == ExprRole::Method);
  CHECK(to_string(expr.note(*size).type) == "int");
}
