// Comparisons, logic and choices.
#include <keyway/onnx/export/operators/common.h>

namespace keyway::inline v1::onnx::exporter {

namespace {

Var compared(const Call& call, std::string_view op) {
  ScalarType dtype = common_dtype(call, "self", "other");
  if (dtype == kBool && op != "Equal") dtype = kInt;
  return call.node(op, {call.as("self", dtype), call.as("other", dtype)}, kBool);
}
Vars compare(const Call& call) { return compared(call, call.word()); }
Vars differ(const Call& call) { return call.node("Not", {compared(call, "Equal")}); }

Vars logic(const Call& call) { return call.node(call.word(), {call.as("self", kBool), call.as("other", kBool)}); }

// And, Or and Xor of bits, or of booleans.
Vars bits(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const std::string op = (dtype == kBool ? "" : "Bitwise") + std::string(call.word());
  return call.node(op, {call.as("self", dtype), call.as("other", dtype)});
}

Vars close(const Call& call) {
  if (call.flag("equal_nan")) call.refuse("'equal_nan'");
  const ScalarType met = common_dtype(call, "self", "other");
  const ScalarType dtype = is_floating_point(met) ? met : kDouble;
  const Var a = call.as("self", dtype), b = call.as("other", dtype);
  const Var distance = call.node("Abs", {call.node("Sub", {a, b})});
  const Var relative = call.node("Mul", {call.node("Abs", {b}), call.as("rtol", dtype)});
  const Var allowed = call.node("Add", {relative, call.as("atol", dtype)});
  const Var is_finite = call.node("Not", {call.node("IsInf", {distance}, kBool)});
  const Var is_near = call.node("And", {call.node("LessOrEqual", {distance, allowed}, kBool), is_finite});
  return call.node("Or", {is_near, call.node("Equal", {a, b}, kBool)});
}

Vars chosen(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  return call.node("Where", {call.as("condition", kBool), call.as("self", dtype), call.as("other", dtype)}, dtype);
}
Vars filled(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  return call.node("Where", {call.as("mask", kBool), call.as("value", dtype), call.as("self", dtype)}, dtype);
}

constexpr Mapping kComparisons[] = {
    {"bitwise_and.Scalar", bits, "And"},
    {"bitwise_and.Scalar_Tensor", bits, "And"},
    {"bitwise_and.Tensor", bits, "And"},
    {"bitwise_or.Scalar", bits, "Or"},
    {"bitwise_or.Scalar_Tensor", bits, "Or"},
    {"bitwise_or.Tensor", bits, "Or"},
    {"bitwise_xor.Scalar", bits, "Xor"},
    {"bitwise_xor.Scalar_Tensor", bits, "Xor"},
    {"bitwise_xor.Tensor", bits, "Xor"},
    {"eq.Scalar", compare, "Equal"},
    {"eq.Tensor", compare, "Equal"},
    {"ge.Scalar", compare, "GreaterOrEqual"},
    {"ge.Tensor", compare, "GreaterOrEqual"},
    {"gt.Scalar", compare, "Greater"},
    {"gt.Tensor", compare, "Greater"},
    {"isclose", close},
    {"le.Scalar", compare, "LessOrEqual"},
    {"le.Tensor", compare, "LessOrEqual"},
    {"logical_and", logic, "And"},
    {"logical_or", logic, "Or"},
    {"logical_xor", logic, "Xor"},
    {"lt.Scalar", compare, "Less"},
    {"lt.Tensor", compare, "Less"},
    {"masked_fill.Scalar", filled},
    {"masked_fill.Tensor", filled},
    {"ne.Scalar", differ},
    {"ne.Tensor", differ},
    {"where.Scalar", chosen},
    {"where.ScalarOther", chosen},
    {"where.ScalarSelf", chosen},
    {"where.self", chosen},
};

}  // namespace

Family comparison_family() { return kComparisons; }

}  // namespace keyway::inline v1::onnx::exporter
