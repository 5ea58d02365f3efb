// Signature: what a function of expressions takes and returns, and how a call binds to it.
#pragma once

#include <keyway/codegen/expr/expr_type.h>
#include <keyway/codegen/expr/scope.h>
#include <keyway/core/schema/schema.h>

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace keyway::inline v1 {

struct Parameter {
  std::string name;
  ExprType type;
  bool required = true;
  bool keyword_only = false;
  bool expands = false;  // int[2]: one int stands for the list
};

struct Signature {
  std::string name;       // "where"
  std::string full_name;  // "where.self"
  std::vector<Parameter> parameters;
  ExprType result;
  FunctionSchema schema;    // what it was made from: a view
  bool is_function = true;  // of an operator: whether there is keyway::name(...)
  bool is_method = false;   // and x.name(...)
};

ExprType expr_type_of(SchemaType type);
// None results in None, several in a tuple.
Signature signature_of(FunctionSchema schema);

struct ArgumentType {
  std::string keyword;  // empty if positional
  ExprType type;
};

enum class Lifting : std::uint8_t {
  None,         // operators: a list is a list
  Elementwise,  // predicates: f(int) of a list is the list of the results
};

// A call that fits: by how many levels of lists it was lifted, and how many numbers stand where it takes tensors.
struct Bound {
  int lift = 0;
  int numbers_as_tensors = 0;
};
// A call that does not fit: why, and at which argument if it is one's fault.
struct Mismatch {
  std::string reason;
  int argument = -1;
};

// The position of the parameter that argument `index` of a call goes to.
std::variant<std::size_t, Mismatch> parameter_of(const Signature& signature, const ArgumentType& argument, int index);

std::variant<Bound, Mismatch> bind_call(const Signature& signature, const std::vector<ArgumentType>& arguments,
                                        ExprContext context, Lifting lifting);

}  // namespace keyway::inline v1
