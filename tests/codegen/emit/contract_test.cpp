// Contracts and dtype rules become the C++ that a person would write.
#include <keyway/codegen/emit/cpp_contract.h>
#include <keyway/codegen/emit/cpp_dtypes.h>
#include <keyway/codegen/emit/cpp_metadata.h>
#include <keyway/tests/codegen/test_files.h>

#include <algorithm>

using namespace keyway;

namespace {

constexpr const char* kArguments =
    "(Tensor self, Tensor? weight, Tensor[] tensors, Tensor?[] indices, int dim, int[] size, int[]? dims, bool flag, "
    "float p, Scalar number, ScalarType? dtype)";

Op op_with(const std::string& dtypes, const std::string& contracts) {
  const std::string json =
      std::string("{\"doc\": \"Ops.\", \"ops\": [{\"func\": \"f") + kArguments +
      " -> Tensor\", \"kernels\": [\"CPU\"], " + dtypes + "\"variants\": [\"function\"], " + contracts +
      "\"derivatives\": {}, \"doc\": \"An operator.\", \"example\": \"f([1], None, [], [], 0, [], [], True, "
      "0.5, 1, None) == [1]\"}]}";
  Diagnostics diagnostics;
  auto families = build_model({{"ops.json", json}}, diagnostics);
  INFO(diagnostics.str());
  REQUIRE(families.has_value());
  return families->front().ops.front();
}

// Of rules in single quotes.
DTypePlan dtype_plan_of(std::string rules) {
  std::ranges::replace(rules, '\'', '"');
  return dtype_plan(op_with("\"dtypes\": " + rules + ", ", {}));
}

std::string lines(const DTypePlan& plan) {
  std::string out;
  for (const Doc& statement : plan.statements) out += statement.lines(2);
  return out;
}

Op op_requiring(const std::string& contract) { return op_with({}, "\"requires\": [\"" + contract + "\"], "); }

std::string statements(const std::string& contract) { return contract_statements(op_requiring(contract), 2); }

// The condition under which a contract fails.
std::string failing_if(const std::string& contract) {
  const Op op = op_requiring(contract);
  const CheckedExpr& expr = op.contracts.front().expr;
  return MetadataExpr(expr, *op.schema).negated(expr.root()).doc.flat();
}

// The values that the error shows.
std::string evidence(const std::string& contract) {
  const std::string text = statements(contract);
  const auto begin = text.find(", {", text.find("fail_contract("));
  return text.substr(begin + 2, std::min(text.find(");", begin), text.find(", ErrorKind", begin)) - begin - 2);
}

}  // namespace

TEST_CASE("a contract fails where its opposite holds") {
  CHECK(failing_if("self.dim() == 2") == "self.dim() != 2");
  CHECK(failing_if("self.dim() < dim") == "self.dim() >= dim");
  CHECK(failing_if("p < 1") == "!(p < 1)");  // NaN
  CHECK(failing_if("!flag") == "flag");
  CHECK(failing_if("0 <= p <= 1") == "!(0 <= p && p <= 1)");
  CHECK(failing_if("self.dim() in {1, dim}") == "!contract::in(self.dim(), {1, dim})");
  CHECK(failing_if("weight == None || weight.dim() == 1") == "weight.defined() && weight.dim() != 1");
  CHECK(failing_if("flag ? dim > 0 : dim < 0") == "flag ? dim <= 0 : dim >= 0");
}

TEST_CASE("the parts of && are checked one by one") {
  CHECK(statements("flag && dim > 0") ==
        "  if (!flag) [[unlikely]] {\n"
        "    fail_contract(\"flag\", {{\"flag\", flag}});\n"
        "  }\n"
        "  if (dim <= 0) [[unlikely]] {\n"
        "    fail_contract(\"dim > 0\", {{\"dim\", dim}});\n"
        "  }\n");
}

TEST_CASE("integers are checked, and their overflow quotes the contract") {
  CHECK(statements("dim + 1 < self.dim()") ==
        "  {\n"
        "    constexpr std::string_view text_ = \"dim + 1 < self.dim()\";\n"
        "    if (contract::add(dim, 1, text_) >= self.dim()) [[unlikely]] {\n"
        "      fail_contract(text_, {{\"dim + 1\", contract::add(dim, 1, text_)}, {\"self.dim()\", self.dim()}});\n"
        "    }\n"
        "  }\n");
  CHECK(statements("let n = dim * 2") == "  const std::int64_t n = contract::mul(dim, 2, \"let n = dim * 2\");\n");
}

TEST_CASE("lists compute element by element, and are compared whole") {
  CHECK(failing_if("all(size > 0)") == "!lists::all(std::greater<>(), size, 0)");
  CHECK(failing_if("self.sizes() == size") == "self.sizes() != size");
  CHECK(failing_if("self.sizes()[1:] == [dim, 2]") == "lists::slice(self.sizes(), 1) != DimVector{dim, 2}");
  CHECK(failing_if("size[-1] == 3") == "lists::at(size, -1) != 3");
  CHECK(failing_if("all(max(size, dim) > 0)") ==
        "!lists::all(std::greater<>(), lists::map([&](const auto&... x_) { return contract::max(x_...); }, size, dim), "
        "0)");
  CHECK(failing_if("all(indices.dtype() in {int64, bool})") ==
        "!contract::all(lists::map([&](const auto& x_) { return contract::in(x_, {ScalarType::Long, "
        "ScalarType::Bool}); }, lists::each_defined(indices, [&](const TensorBase& x_) { return x_.dtype(); })))");
}

TEST_CASE("what has been tested for None is used as what it holds") {
  CHECK(failing_if("dims == None || len(dims) > 0") == "dims.has_value() && contract::len(*dims) <= 0");
  CHECK(failing_if("dtype == None || dtype.is_complex()") == "dtype.has_value() && !is_complex(*dtype)");
}

TEST_CASE("a method of what a std::optional holds, and a choice within a union, are in parentheses") {
  const Op op = testing::op_of(testing::file_of(R"~({ "func": "f(Tensor self, Scalar? limit=None) -> Tensor",
    "kernels": ["CPU"], "requires": ["limit == None || !limit.is_complex()"], "derivatives": {}, "doc": "Does.",
    "example": "f([1]) == [1]" })~"));
  CHECK(contract_statements(op, 2).find("limit.has_value() && (*limit).is_complex()") != std::string::npos);
  CHECK(lines(dtype_plan_of("{ 'self': 'floating|(flag ? integral : any)' }"))
            .find("kFloatingTypes | (flag ? kIntegralTypes : kAnyTypes)") != std::string::npos);
}

TEST_CASE("numbers of any kind are compared by functions") {
  CHECK(failing_if("number > 0") == "!contract::less(0, number)");
  CHECK(failing_if("number != 0") == "number == 0");
  CHECK(failing_if("is_finite(number)") == "!contract::is_finite(number)");
}

TEST_CASE("a size that contracts have shown to be there is read without a test") {
  const Op op =
      op_with({}, "\"requires\": [\"self.dim() == 2\", \"self.size(1) == self.size(-1)\", \"self.size(2) == 1\"], ");
  const std::string text = contract_statements(op, 2);
  CHECK(text.find("self.sizes()[1] != contract::size(self, \"self\", -1)") != std::string::npos);
  CHECK(text.find("contract::size(self, \"self\", 2) != 1") != std::string::npos);
}

TEST_CASE("an error shows the values that decide, each once, and none that may not be there") {
  CHECK(evidence("self.dim() == 2") == "{{\"self.dim()\", self.dim()}}");
  CHECK(evidence("dim == 1 || dim == 2") == "{{\"dim\", dim}}");
  CHECK(evidence("all(size > 0)") == "{{\"size\", IntArrayRef(size)}}");
  CHECK(evidence("flag && weight != None ? weight.dim() == 1 : dim == 0") == "{{\"flag\", flag}, {\"dim\", dim}}");
  CHECK(evidence("self.is_floating_point()") == "{{\"self.dtype()\", self.dtype()}}");
  CHECK(evidence("is_finite(number)") == "{{\"number\", number}}");
  CHECK(evidence("weight == None") == "{}");
}

TEST_CASE("a predicate says why") {
  CHECK(statements("is_dim(dim, self.dim())") ==
        "  if (!contract::is_dim(dim, self.dim())) [[unlikely]] {\n"
        "    Refusal why_;\n"
        "    contract::is_dim(dim, self.dim(), &why_);\n"
        "    fail_predicate(\"is_dim(dim, self.dim())\", why_);\n"
        "  }\n");
}

TEST_CASE("a contract about an index fails with an error of an index") {
  const auto about_index = [](const std::string& contract) {
    return contract_statements(op_with({}, "\"requires\": [{ \"index\": \"" + contract + "\" }], "), 2);
  };
  CHECK(about_index("dim > 0").find("fail_contract(\"dim > 0\", {{\"dim\", dim}}, ErrorKind::Index);") !=
        std::string::npos);
  CHECK(about_index("is_dim(dim, self.dim())").find("Refusal why_{ErrorKind::Index};") != std::string::npos);
}

TEST_CASE("a contract that asks for dtypes alone fails with an error of a dtype") {
  constexpr std::string_view kKind = "ErrorKind::Dtype);";
  for (const char* contract :
       {"self.is_floating_point()", "self.dtype() != bool && !self.is_complex()", "self.dtype() in {float32, float64}",
        "all(tensors.dtype() == self.dtype())", "dtype == None || dtype.is_complex()"}) {
    INFO(contract);
    CHECK(statements(contract).find(kKind) != std::string::npos);
  }
  CHECK(statements("self.is_complex() && dim > 0").find("{{\"dim\", dim}});") != std::string::npos);
  for (const char* contract :
       {"self.dim() > 0", "!is_bool(number)", "self.numel() > 0 || self.is_complex()", "flag || self.is_complex()"}) {
    INFO(contract);
    CHECK(statements(contract).find(kKind) == std::string::npos);
  }
}

TEST_CASE("dtype rules check arguments by name and give the results theirs") {
  const DTypePlan plan = dtype_plan_of(
      "{ 'self': 'floating|int64', 'weight': 'self', 'tensors': 'self|float32', "
      "'result': 'dtype != None ? dtype : accumulate(self)' }");
  const std::string expected =
      "  check_dtype(\"self\", self, kFloatingTypes | DtypeSet(ScalarType::Long));\n"
      "  check_same_dtype(\"weight\", weight, \"self\", self.dtype());\n"
      "  check_dtype(\"tensors\", tensors, DtypeSet(self.dtype()) | DtypeSet(ScalarType::Float));\n"
      "  plan_.common = dtype.value_or(self.dtype());\n"
      "  plan_.dtype[0] = dtype.has_value() ? *dtype : accumulate_type(self.dtype());\n";
  CHECK(lines(plan) == expected);
  CHECK(plan.promoted == std::vector<std::string>{"self"});  // since kernels are not told of `dtype`
}

TEST_CASE("what promotes is cast, and results may follow it") {
  const DTypePlan plan = dtype_plan_of("{ 'self, tensors': 'promote(integral|bool)', 'result': 'self' }");
  const std::string expected =
      "  plan_.common = dtype.value_or((Promotion() << self << tensors << number).result());\n"
      "  check_common_dtype(plan_.common, kIntegralTypes | DtypeSet(ScalarType::Bool));\n"
      "  plan_.dtype[0] = plan_.common;\n";
  CHECK(lines(plan) == expected);
  CHECK(plan.promoted == std::vector<std::string>{"self", "tensors"});
  CHECK(plan.loop_types.flat() == "kIntegralTypes | DtypeSet(ScalarType::Bool)");
}
