// The functions and methods that users call: ATen's names, argument orders and defaults.
#pragma once

#include <keyway/codegen/model/model.h>
#include <keyway/codegen/model/variants.h>

#include <string>
#include <vector>

namespace keyway::inline v1 {

struct PublicParameter {
  std::string type;           // "const Scalar&"
  std::string name;           // "alpha"
  std::string default_value;  // "1", or empty
};

// One overload as users see it.
struct PublicFunction {
  const Op* op;
  OverloadKind kind;
  OwnedSchema schema;
  std::string base;                         // "add", "add_": the operator's name, or an alias
  std::string name;                         // "add", "add_", "add_out"
  std::string result;                       // "Tensor"
  std::vector<PublicParameter> parameters;  // of a method without self
  std::vector<std::string> arguments;       // expressions for the canonical arguments

  bool takes_options() const;  // a TensorOptions stands for dtype, layout, device and pin_memory
};

// Of a family, in the order of its entries; each with the overloads that it stands for, then these under its aliases.
// Where defaults would
// let one call mean two overloads, the one that has more arguments loses its defaults.
std::vector<PublicFunction> public_functions(const Family& family);
std::vector<PublicFunction> public_methods(const Family& family);

// "const Tensor& other, const Scalar& alpha = 1", in pieces.
std::vector<std::string> declared(const std::vector<PublicParameter>& parameters);
// The same without defaults, for a definition apart from its declaration.
std::vector<std::string> defined(const std::vector<PublicParameter>& parameters);

// The lines between the braces of its definition.
std::string public_body(const PublicFunction& function);
// What its contracts say, a line each: "Requires: dim > 0", and "Where n = self.dim()", which `stop` ends.
std::vector<std::string> contract_lines(const Op& op, std::string_view stop);
// The comment above it. `brief`: the sentence alone.
std::string public_comment(const PublicFunction& function, std::string_view indent, bool brief);

}  // namespace keyway::inline v1
