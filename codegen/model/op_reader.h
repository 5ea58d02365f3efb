// The readers of the parts of an entry: each turns one key, or a few that belong together, into its part of
// the model, and reports what is wrong with it. They may be called for any entry of the right shape, whatever
// else is wrong.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/expr/function_table.h>
#include <keyway/codegen/expr/scope.h>
#include <keyway/codegen/json/json_value.h>
#include <keyway/codegen/model/model.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// A schema, or nothing if it does not parse, which is reported.
std::optional<OwnedSchema> read_schema(const LocatedText& func, const Report& report);

// What every reader sees. Views: all outlive the reading.
struct OpSource {
  const JsonValue& entry;  // of the right shape
  const OwnedSchema& schema;
  const FunctionTable& functions;  // of all files
  const Report& report;            // in this op

  const LocatedText& func() const { return entry.find("func")->text; }
  // Where a piece of the schema's text is written. Requires: `piece` points into it.
  Place place_of(std::string_view piece) const;
};

// op_names.cpp: whether the names and the types in the schema can stand in generated code.
void check_names(const OpSource& source);
// op_recipe.cpp
Recipe read_recipe(const OpSource& source);
std::string read_rule(const OpSource& source, const Recipe& recipe);
// op_variants.cpp
Variants read_variants(const OpSource& source, const Recipe& recipe);
OutOverload read_out(const OpSource& source, const Variants& variants);
// op_aliases.cpp
std::vector<std::string> read_aliases(const OpSource& source);
// Reports a name that means two things: an operator and an alias of another, or an alias of two.
void check_aliases(const std::vector<Family>& families, Diagnostics& diagnostics);
// op_dtypes.cpp
DTypes read_dtypes(const OpSource& source);
// Reports a promotion of arguments none of which is an operand. Requires: all else is right.
void check_promotions(const Op& op, const OpSource& source);
// op_contracts.cpp: `requires`, `values` and `domain`
std::vector<Formula> read_contracts(const OpSource& source, std::string_view key, ExprContext context);
// op_derivatives.cpp
std::vector<Derivative> read_derivatives(const OpSource& source, const Recipe& recipe);
// op_examples.cpp
std::optional<Example> read_example(const OpSource& source);
std::vector<Example> read_samples(const OpSource& source);
// op_words.cpp
// The strings of a list. Reports those that it has twice: "the tag 'core' stands here twice".
std::vector<std::string> unique_words(const OpSource& source, const JsonValue& list, std::string_view what);
std::vector<std::string> known_tags();
std::vector<std::string> read_tags(const OpSource& source, const Recipe& recipe);
std::string read_doc(const JsonValue& doc, const Report& report);
std::string read_namespace(const OpSource& source);
AutocastPolicy read_autocast(const OpSource& source);
TransformRule read_vmap(const OpSource& source, const Recipe& recipe);
TransformRule read_jvp(const OpSource& source, const Recipe& recipe);
std::optional<OwnedSchema> read_counterpart(const OpSource& source);

}  // namespace keyway::inline v1
