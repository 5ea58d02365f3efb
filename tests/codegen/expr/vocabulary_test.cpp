#include <keyway/codegen/expr/vocabulary.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/tests/catch.h>

#include <set>

using namespace keyway;

TEST_CASE("dtypes have the names that core gives them") {
  const Scope all = constants(ExprContext::Contract);
  for (const Symbol& symbol : all.symbols()) {
    if (symbol.type.base != ExprBase::DType) continue;
    INFO(symbol.name);
    const auto dtype = try_parse_dtype(symbol.name);
    REQUIRE(dtype.has_value());
    CHECK(to_string(*dtype) == symbol.name);
  }
}

TEST_CASE("every constant, and every overload of a predicate, stands once") {
  std::set<std::string> seen;
  const Scope all = constants(ExprContext::DType);
  for (const Symbol& symbol : all.symbols()) CHECK(seen.insert(symbol.name).second);
  for (const ExprContext context : {ExprContext::Data, ExprContext::DType}) {
    seen.clear();
    for (const std::string& name : predicate_names()) {
      for (const Signature& signature : predicates_named(name, context)) {
        std::string text = name;
        for (const Parameter& parameter : signature.parameters) text += ", " + to_string(parameter.type);
        INFO(text);
        CHECK(seen.insert(text).second);
      }
    }
  }
}
