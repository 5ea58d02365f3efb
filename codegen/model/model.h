// The model: what schema files say, checked and typed. It is built in one piece (build_model.h) and never
// changed; emitters are functions of it and cannot fail. Everything knows where it was written.
#pragma once

#include <keyway/codegen/base/place.h>
#include <keyway/codegen/expr/expr_checker.h>
#include <keyway/codegen/expr/saved_values.h>
#include <keyway/core/schema/owned.h>
#include <keyway/core/schema/transform_rules.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// An expression with its types, and the text that a person wrote.
struct Formula {
  CheckedExpr expr;
  LocatedText text;
  bool about_index = false;  // of a contract: that it fails is an error of an index
};

enum class RecipeKind : std::uint8_t { Pointwise, Reduction, View, Composite, Kernels };
// As entries write it.
constexpr std::string_view to_string(RecipeKind kind) {
  constexpr std::string_view kWords[] = {"pointwise", "reduction", "view", "composite", "kernels"};
  return kWords[static_cast<int>(kind)];
}

struct Recipe {
  RecipeKind kind = RecipeKind::Kernels;  // Composite where there are native kernels beside it
  std::string function;                   // functor, geometry function or composite; empty for Kernels
  std::vector<std::string> kernels;       // backends of Kernels, and those that override a Composite
};

// "dtypes": one set for one or several arguments or results.
struct DTypeRule {
  std::vector<std::string> names;
  Formula set;  // a dtype or a set of dtypes
};

// A preset or rules; neither: what the recipe implies.
struct DTypes {
  std::string preset;
  std::vector<DTypeRule> rules;
};

struct Variants {
  bool function = false;
  bool method = false;
  bool inplace = false;
  bool out = false;
};

// How the out= overload is called: `values(values, indices)`.
struct OutOverload {
  std::string name;
  std::vector<std::string> arguments;
};

struct Derivative {
  std::vector<std::string> inputs;  // several: one joint formula, whose value is a tuple
  Formula formula;
  std::vector<SavedValue> saved;

  // The formula is None.
  bool is_zero() const { return as<NoneExpr>(formula.expr.root()) != nullptr; }
};

// A call with literal arguments.
struct Example {
  LocatedText text;
  ExprPtr call;       // CallExpr of the op, maybe with methods of its result
  ExprPtr value;      // a literal or a tuple of them; null: the call has only to run
  std::string error;  // of a sample that must fail: a part of the text
};

// What autocast does with the arguments of a call (autocast/kernels.h).
enum class AutocastPolicy : std::uint8_t { None, Lower, Float32, Promote };
// As entries write it; nothing for None.
inline constexpr std::string_view kAutocastWords[] = {"", "lower", "float32", "promote"};
constexpr std::string_view to_string(AutocastPolicy policy) { return kAutocastWords[static_cast<int>(policy)]; }

struct Op {
  OwnedSchema schema;
  LocatedText func;  // the schema as written
  Recipe recipe;
  std::string rule;  // the metadata function of Kernels; else empty
  std::string python_namespace;
  DTypes dtypes;
  Variants variants;
  OutOverload out;                   // if variants.out
  std::vector<std::string> aliases;  // other names that users may call it by
  std::vector<Formula> contracts;    // in order; an item may be a LetExpr
  std::vector<Formula> values;       // contracts over data
  bool planned = false;              // a contract of some operator calls this one
  std::vector<Derivative> derivatives;
  bool differentiability_stated = false;  // an entry with `derivatives`, be it {}
  AutocastPolicy autocast = AutocastPolicy::None;
  TransformRule vmap = kVmapRules[0];
  TransformRule jvp = kJvpRules[0];
  std::optional<OwnedSchema> counterpart;  // the operator of Keyway's that these rules call
  std::vector<Formula> domain;
  std::vector<Example> samples;
  std::vector<std::string> tags;
  std::string doc;
  Example example;

  std::string_view name() const { return schema->full_name(); }
  Place place() const { return func.place; }
  // The arguments that have a gradient other than zero.
  std::vector<std::string> differentiated() const {
    std::vector<std::string> names;
    for (const Derivative& derivative : derivatives)
      if (!derivative.is_zero()) names.insert(names.end(), derivative.inputs.begin(), derivative.inputs.end());
    return names;
  }
};

// A C++ function that formulas of derivatives may call besides operators: a gradient that takes more than an
// expression. It is written by hand; its declaration is generated.
struct Helper {
  OwnedSchema schema;
  Place place;
  std::string doc;
};

// One schema file.
struct Family {
  std::string name;  // "pointwise"
  std::string file;  // "ops/schemas/pointwise.json", as given
  std::string doc;
  std::vector<Helper> helpers;    // sorted by name
  std::vector<Op> ops;            // sorted by name
  std::string library;            // the namespace of a library out of tree; empty: of Keyway itself
  std::vector<OwnedSchema> base;  // of the library's: Keyway's functions, whose signatures formulas refer to
};

}  // namespace keyway::inline v1
