// AutogradPlan: what the Autograd kernels and the node of an operator consist of, read off its entry.
#pragma once

#include <keyway/codegen/model/model.h>
#include <keyway/codegen/model/variants.h>

#include <cstddef>
#include <string>
#include <vector>

namespace keyway::inline v1 {

// An argument that gets a gradient.
struct GradInput {
  std::size_t argument;          // its position in the schema
  std::string name;              // in the schema of the entry
  bool list;                     // Tensor[]: an edge for each element
  const Derivative* derivative;  // null: its gradient is zero, as the entry has none
};

// A field of the node.
struct GradField {
  SavedKind kind;
  ExprPtr expr;                     // what the forward call evaluates
  const CheckedExpr* formula;       // that expr is a part of
  std::string name;                 // "self_sizes_"
  std::string type;                 // in C++
  bool optional;                    // a std::optional
  bool list;                        // of SavedVariables
  bool vector;                      // a std::vector of values
  bool number;                      // a number or a bool, which has no value of its own before it is set
  std::vector<std::size_t> inputs;  // numbers of the inputs whose gradients need it

  bool is_tensor() const { return kind == SavedKind::Input || kind == SavedKind::Output; }
};

// A result that can have a gradient.
struct GradResult {
  std::size_t result;  // its position in the schema
  std::string name;    // of its gradient in apply(): "grad", "grad_values"
  bool list;
  bool zeros;  // where it is undefined and others are not, formulas need zeros
};

struct AutogradPlan {
  std::string node;                    // "AddTensorBackward"
  std::string title;                   // what people see of it, as in PyTorch: "AddBackward0"
  std::vector<GradInput> inputs;       // in the order of the arguments: that of the node's edges
  std::vector<std::string> underived;  // other tensor arguments: an error if they require a gradient
  std::vector<GradField> fields;
  std::vector<GradResult> results;
};

AutogradPlan autograd_plan(const Op& op);

// A name that no field has, by more underscores at its end; no argument ends in one.
std::string free_name(const AutogradPlan& plan, std::string name);
// The numbers of the inputs of a derivative.
std::vector<std::size_t> inputs_of(const AutogradPlan& plan, const Derivative& derivative);
// The positions in plan.results of the gradients that a formula names.
std::vector<std::size_t> gradients_of(const AutogradPlan& plan, const Op& op, const Derivative& derivative);
// The field of a saved value.
const GradField& field_of(const AutogradPlan& plan, const SavedValue& value);

// What the node keeps, for people: "self, other.sizes(), alpha".
std::string saved_text(const Op& op);

}  // namespace keyway::inline v1
