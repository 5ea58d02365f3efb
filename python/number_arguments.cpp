#include <keyway/ops/all.h>
#include <keyway/ops/rules/promotion.h>
#include <keyway/python/number_arguments.h>

#include <algorithm>
#include <optional>

namespace keyway::inline v1::python {
namespace {

struct NumberRule {
  std::string_view op;  // without the underscore of its in-place form
  bool self, other;     // which tensors may be numbers
  bool alone;           // also if nothing else is a tensor
};

// From PyTorch's native_functions.yaml: overloads named Scalar take a number for `other`, those named Scalar_Tensor for
// `self`. From its parser of Python's arguments: the operators whose tensors may be numbers. Numbers that an overload
// of Keyway's takes are not listed.
constexpr NumberRule kNumberRules[] = {
    {"add", true, false, true},         {"bitwise_and", true, true, false}, {"bitwise_or", true, true, false},
    {"bitwise_xor", true, true, false}, {"copy_", false, true, false},      {"div", true, false, true},
    {"floor_divide", true, true, true}, {"fmod", false, true, false},       {"mul", true, false, true},
    {"remainder", true, true, false},   {"sub", true, false, true},
};

const NumberRule* rule_of(const FunctionSchema& schema) {
  const std::string_view ns = schema.namespace_name();
  if (!ns.empty() && ns != "keyway") return nullptr;
  const std::string_view name = schema.name();
  const auto* const rule = std::ranges::find_if(kNumberRules, [&](const NumberRule& r) {
    return name == r.op || (name.size() == r.op.size() + 1 && name.starts_with(r.op) && name.ends_with('_'));
  });
  return rule == std::end(kNumberRules) ? nullptr : rule;
}

}  // namespace

bool takes_number(const FunctionSchema& schema, std::string_view argument) {
  const NumberRule* const rule = rule_of(schema);
  if (rule == nullptr) return false;
  if (argument == "self") return rule->self && !schema.is_inplace();
  return rule->other && (argument == "other" || argument == "src");
}

bool numbers_to_tensors(const FunctionSchema& schema, const std::vector<std::size_t>& positions, Stack& stack) {
  Promotion promotion;
  std::optional<Device> device;
  const ArgumentList arguments = schema.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (stack[i].is_tensor() && !arguments[i].is_out()) {
      promotion << stack[i].to_tensor();
      if (!device) device = stack[i].to_tensor().device();
    }
  }
  if (!device && !rule_of(schema)->alone) return false;
  for (const std::size_t i : positions) {
    if (!stack[i].is_tensor()) promotion << stack[i].to_scalar();
  }
  const TensorOptions options = TensorOptions().dtype(promotion.result()).device(device);
  for (const std::size_t i : positions) {
    if (!stack[i].is_tensor())
      stack[i] = IValue(static_cast<const TensorBase&>(full({}, stack[i].to_scalar(), options)));
  }
  return true;
}

}  // namespace keyway::inline v1::python
