#include <keyway/codegen/model/variants.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/codegen/test_files.h>

#include <random>

using namespace keyway;
using namespace std::string_view_literals;
using keyway::testing::build;
using keyway::testing::data_file;

namespace {

const Op& op_named(const Family& family, std::string_view name) {
  for (const Op& op : family.ops)
    if (op.name() == name) return op;
  FAIL("no op " << name);
  return family.ops.front();
}

}  // namespace

TEST_CASE("the fifteen difficult entries are accepted") {
  const auto [families, errors] = build(read_file(data_file("difficult.json")));
  CHECK(errors.empty());
  REQUIRE(families.has_value());
  const Family& family = families->front();
  CHECK(family.name == "test");
  REQUIRE(family.ops.size() == 15);

  const Op& convolution = op_named(family, "convolution");
  CHECK(convolution.contracts.size() == 11);
  CHECK(as<LetExpr>(convolution.contracts[0].expr.root()));
  REQUIRE(convolution.derivatives.size() == 1);
  CHECK(convolution.derivatives[0].inputs == std::vector<std::string>{"input", "weight", "bias"});
  CHECK(to_string(convolution.derivatives[0].formula.expr.type()) == "(Tensor, Tensor, Tensor)");
  CHECK(convolution.rule == "convolution");

  const Op& copy = op_named(family, "copy_");
  CHECK(to_string(copy.derivatives[0].formula.expr.type()) == "None");
  CHECK(copy.variants.method);
  CHECK_FALSE(copy.variants.function);

  const Op& arange = op_named(family, "arange.start_step");
  CHECK(arange.derivatives.empty());
  CHECK(arange.differentiability_stated);
  CHECK(arange.out.name == "start_out");
  CHECK(to_string(arange.dtypes.rules[0].set.expr.type()) == "dtype");

  const Op& norm = op_named(family, "native_layer_norm");
  CHECK(norm.dtypes.rules[1].names == std::vector<std::string>{"weight", "bias"});
  CHECK(to_string(norm.dtypes.rules[1].set.expr.type()) == "set of dtypes");

  const Op& pool = op_named(family, "max_pool2d_with_indices");
  CHECK(pool.python_namespace == "nn");
  CHECK(pool.out.arguments == std::vector<std::string>{"out", "indices"});
}

TEST_CASE("a recipe's rule of vmap is for operators that have the arguments it reads") {
  const auto rule_of = [](const std::string& func, const std::string& recipe, const std::string& contract) {
    const auto result = testing::build(
        testing::file_of(R"({ "func": ")" + func + R"(", ")" + recipe + R"(": "F", "requires": [")" + contract +
                         R"("], "derivatives": {}, "doc": "Does.", "example": "f([1.0]) == 1.0" })"));
    INFO(result.errors);
    REQUIRE(result.errors.empty());
    return std::string(result.families->front().ops.front().vmap.name);
  };
  const std::string along = ", int[1] dim=[], bool keepdim=False) -> Tensor";
  CHECK(rule_of("f(Tensor self" + along, "reduction", "are_dims(dim, self.dim())") == "reduction");
  CHECK(rule_of("f(Tensor x" + along, "reduction", "are_dims(dim, x.dim())") == "each");
  CHECK(rule_of("f(Tensor self) -> Tensor", "reduction", "self.dim() > 0") == "each");
  CHECK(rule_of("f(Tensor(a) self, int dim=0) -> Tensor(a)", "view", "is_dim(dim, self.dim())") == "shape");
  CHECK(rule_of("f(Tensor(a) self) -> Tensor(a)", "view", "self.dim() > 0") == "each");
}

TEST_CASE("an op of one file may be called in another") {
  const std::string mm = testing::file_of(
      R"~({ "func": "mm(Tensor self, Tensor mat2) -> Tensor", "kernels": ["CPU"], "derivatives": {},
           "doc": "Multiplies.", "example": "mm([[1]], [[1]]) == [[1]]" })~");
  const std::string user = testing::file_of(
      R"~({ "func": "f(Tensor self) -> Tensor", "kernels": ["CPU"], "derivatives": { "self": "mm(grad, self)" },
           "doc": "Does.", "example": "f(1) == 1" })~");
  Diagnostics diagnostics;
  CHECK(build_model({{"a/user.json", user}, {"a/mm.json", mm}}, diagnostics).has_value());
  CHECK(diagnostics.str().empty());
  CHECK_FALSE(build_model({{"a/user.json", user}, {"b/user.json", mm}}, diagnostics).has_value());
  CHECK(diagnostics.str() == "b/user.json:1:1: error: the family 'user' is also that of a/user.json\n");
}

TEST_CASE("no damage to a schema file makes the generator throw") {
  const std::string whole = read_file(data_file("difficult.json"));
  std::mt19937 random(11);
  constexpr std::string_view kBytes =
      "\"{}[]():,.?*!&|<>=-+/%\\ \n\xC3\xFF"
      "0aT_\0"sv;
  for (int round = 0; round < testing::campaign(300); ++round) {
    std::string text = whole;
    for (std::uint32_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = kBytes[random() % kBytes.size()]; break;
        case 1: text.insert(at, 1, kBytes[random() % kBytes.size()]); break;
        case 2: text.erase(at, 1 + random() % 8); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 200)); break;
      }
    }
    INFO("round " << round);
    const auto [families, errors] = build(text);
    CHECK(families.has_value() == errors.empty());
    for (const Family& family : families.value_or(std::vector<Family>()))
      for (const Op& op : family.ops) CHECK_NOTHROW(expand_variants(op));
  }
}

TEST_CASE("bombs in formulas, schemas and examples are errors") {
  const auto repeated = [](std::string_view text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  const auto errors = [](const std::string& func, const std::string& contract, const std::string& example) {
    return build(testing::file_of(R"~({ "func": ")~" + func + R"~(", "composite": "f", "requires": [")~" + contract +
                                  R"~("], "doc": "Does.", "example": ")~" + example + R"~(" })~"))
        .errors;
  };
  const std::string func = "f(Tensor self) -> Tensor";
  CHECK(errors(func, "self.dim() > 0", "f(1) == 1").empty());
  CHECK(errors(func, repeated("(", 60000), "f(1) == 1").find("nested more than 64 deep") != std::string::npos);
  CHECK(errors(func, "1" + repeated(" + 1", 15000), "f(1) == 1").find("nested more than 64 deep") != std::string::npos);
  CHECK(errors(func, "True", "f(" + repeated("[", 60000)).find("nested more than 64 deep") != std::string::npos);
  CHECK(errors(func, repeated("x", 65000), "f(1) == 1").size() < 300);
  CHECK(errors("f(" + repeated("(", 60000), "True", "f(1) == 1").find("at most 16 deep") != std::string::npos);
  CHECK(errors("f(Tensor self" + repeated(", int a", 8000) + ") -> Tensor", "True", "f(1) == 1").size() < 300);
  CHECK(errors(func, "len([1" + repeated(",1", 30000) + "]) > 0", "f([1" + repeated(",1", 30000) + "]) == 1").empty());
}

TEST_CASE("a schema file cut anywhere is an error and never a crash") {
  const std::string whole = read_file(data_file("difficult.json"));
  for (std::size_t size = 0; size + 3 < whole.size(); size += 97)
    CHECK_FALSE(build(whole.substr(0, size)).errors.empty());
}
