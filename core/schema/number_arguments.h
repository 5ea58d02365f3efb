// Which tensors of an operator PyTorch lets a caller in Python give as numbers, where Keyway's schema has tensors only.
#pragma once

#include <keyway/core/schema/schema.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace keyway::inline v1 {

struct NumberRule {
  std::string_view op;  // without the underscore of its in-place form
  bool self, other;     // which tensors may be numbers
};

// From PyTorch's native_functions.yaml: overloads named Scalar take a number for `other`, those named Scalar_Tensor for
// `self`. From its parser of Python's arguments: the operators whose tensors may be numbers. Numbers that an overload
// of Keyway's takes are not listed.
inline constexpr NumberRule kNumberRules[] = {
    {"add", true, false},         {"copy_", false, true}, {"div", true, false},
    {"floor_divide", true, true}, {"mul", true, false},   {"sub", true, false},
};

// The rule of an operator of Keyway's, or null.
constexpr const NumberRule* number_rule(const FunctionSchema& schema) {
  const std::string_view ns = schema.namespace_name();
  if (!ns.empty() && ns != "keyway") return nullptr;
  const std::string_view name = schema.name();
  const auto* const rule = std::ranges::find_if(kNumberRules, [&](const NumberRule& r) {
    return name == r.op || (name.size() == r.op.size() + 1 && name.starts_with(r.op) && name.ends_with('_'));
  });
  return rule == std::end(kNumberRules) ? nullptr : rule;
}

// Whether the tensor `argument` of an overload may be a number.
constexpr bool takes_number(const FunctionSchema& schema, std::string_view argument) {
  const NumberRule* const rule = number_rule(schema);
  if (rule == nullptr) return false;
  if (argument == "self") return rule->self && !schema.is_inplace();
  return rule->other && (argument == "other" || argument == "src");
}

}  // namespace keyway::inline v1
