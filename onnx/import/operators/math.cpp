// Functions of elements.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

namespace keyway::inline v1::onnx {

namespace {

constexpr int kAny = Operator::kAny;
constexpr std::string_view kLegacy = "axis broadcast consumed_inputs";

Tensor plus(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor minus(const Tensor& a, const Tensor& b) { return sub(a, b); }
// Of integers as C++ divides them.
Tensor quotient(const Tensor& a, const Tensor& b) {
  return is_integral(a.dtype(), true) ? div(a, b, "trunc") : div(a, b);
}
Tensor negated(const Tensor& a) { return neg(a); }
Tensor erf_of(const Tensor& a) { return erf(a); }

// Before version 7 the second operand broadcast where an attribute said so, from an axis on.
Tensor legacy_operand(const Call& call) {
  const Tensor& a = call.tensor(0);
  Tensor b = call.tensor(1);
  if (call.attribute("broadcast", 0) == 0) {
    call.check(a.sizes() == b.sizes(), "sizes {} and {} differ, and the attribute broadcast is not set", a.sizes(),
               b.sizes());
    return b;
  }
  if (!call.has_attribute("axis")) return b;
  const std::int64_t axis = call.axis(call.attribute("axis"), a.dim(), true);
  call.check(axis + b.dim() <= a.dim(), "an operand of {} dimensions does not fit one of {} from axis {} on", b.dim(),
             a.dim(), axis);
  for (std::int64_t i = axis + b.dim(); i < a.dim(); ++i) b = unsqueeze(b, -1);
  return b;
}

template <Tensor (*op)(const Tensor&, const Tensor&)>
Results legacy_two(const Call& call) {
  return {op(call.tensor(0), legacy_operand(call))};
}

// The base's dtype is the result's.
Results power(const Call& call) {
  const Tensor& base = call.tensor(0);
  const Tensor& exponent = call.tensor(1);
  return {pow(base, exponent).to(base.dtype())};
}
Results legacy_power(const Call& call) { return {pow(call.tensor(0), legacy_operand(call))}; }

// One or more operands, taken together two by two.
template <Tensor (*op)(const Tensor&, const Tensor&)>
Tensor fold(const Call& call) {
  Tensor result = call.tensor(0);
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    call.check(call.tensor(i).dtype() == result.dtype(), "the inputs must have one dtype, not {} and {}",
               result.dtype(), call.tensor(i).dtype());
    result = op(result, call.tensor(i));
  }
  return result;
}
template <Tensor (*op)(const Tensor&, const Tensor&)>
Results several(const Call& call) {
  return {fold<op>(call)};
}
Results mean_of_several(const Call& call) {
  return {div(fold<plus>(call), Scalar(static_cast<std::int64_t>(call.inputs())))};
}

// The largest and the least number that an operand may have, by inputs or, before version 11, by attributes.
Results clip_between(const Call& call) {
  Tensor x = call.tensor(0);
  if (call.has(1)) x = maximum(x, call.tensor(1));
  if (call.has(2)) x = minimum(x, call.tensor(2));
  return {x};
}
Results clip_between_attributes(const Call& call) {
  Tensor x = call.tensor(0);
  if (call.has_attribute("min")) x = clamp_min(x, Scalar(call.single_attribute("min")));
  if (call.has_attribute("max")) x = clamp_max(x, Scalar(call.single_attribute("max")));
  return {x};
}

Results modulo(const Call& call) {
  const Tensor& a = call.tensor(0);
  const Tensor& b = call.tensor(1);
  const bool as_c = call.attribute("fmod", 0) != 0;
  call.check(as_c || call.version() >= 28 || is_integral(a.dtype(), false),
             "operands of {} need the attribute fmod = 1", a.dtype());
  return {as_c ? fmod(a, b) : remainder(a, b)};
}

Results shift(const Call& call) {
  const std::string direction = call.text_attribute("direction");
  call.check(direction == "LEFT" || direction == "RIGHT", "direction is LEFT or RIGHT, not {}", direction);
  const auto apply = [&](const Tensor& a, const Tensor& b) {
    return direction == "LEFT" ? bitwise_left_shift(a, b) : bitwise_right_shift(a, b);
  };
  return {apply(call.tensor(0), call.tensor(1))};
}

Results is_infinite(const Call& call) {
  const Tensor& x = call.tensor(0);
  const bool positive = call.attribute("detect_positive", 1) != 0;
  const bool negative = call.attribute("detect_negative", 1) != 0;
  if (positive && negative) return {isinf(x)};
  if (positive) return {isposinf(x)};
  return {negative ? isneginf(x) : logical_and(isposinf(x), isneginf(x))};
}

Results select_where(const Call& call) { return {where(call.tensor(0), call.tensor(1), call.tensor(2))}; }

constexpr Operator kMath[] = {
    {"Abs", 1, one<abs>, 1, "consumed_inputs"},
    {"Abs", 6, one<abs>},
    {"Acos", 7, one<acos>},
    {"Acosh", 9, one<acosh>},
    {"Add", 1, legacy_two<plus>, 2, kLegacy},
    {"Add", 7, two<plus>, 2},
    {"And", 1, legacy_two<logical_and>, 2, kLegacy},
    {"And", 7, two<logical_and>, 2},
    {"Asin", 7, one<asin>},
    {"Asinh", 9, one<asinh>},
    {"Atan", 7, one<atan>},
    {"Atanh", 9, one<atanh>},
    {"BitShift", 11, shift, 2, "direction"},
    {"BitwiseAnd", 18, two<bitwise_and>, 2},
    {"BitwiseNot", 18, one<bitwise_not>},
    {"BitwiseOr", 18, two<bitwise_or>, 2},
    {"BitwiseXor", 18, two<bitwise_xor>, 2},
    {"Ceil", 1, one<ceil>, 1, "consumed_inputs"},
    {"Clip", 1, clip_between_attributes, 1, "min max consumed_inputs"},
    {"Clip", 6, clip_between_attributes, 1, "min max"},
    {"Clip", 11, clip_between, 3},
    {"Cos", 7, one<cos>},
    {"Cosh", 9, one<cosh>},
    {"Div", 1, legacy_two<quotient>, 2, kLegacy},
    {"Div", 7, two<quotient>, 2},
    {"Equal", 1, legacy_two<eq>, 2, kLegacy},
    {"Equal", 7, two<eq>, 2},
    {"Erf", 9, one<erf_of>},
    {"Exp", 1, one<exp>, 1, "consumed_inputs"},
    {"Floor", 1, one<floor>, 1, "consumed_inputs"},
    {"Greater", 1, legacy_two<gt>, 2, kLegacy},
    {"Greater", 7, two<gt>, 2},
    {"GreaterOrEqual", 12, two<ge>, 2},
    {"IsInf", 10, is_infinite, 1, "detect_positive detect_negative"},
    {"IsNaN", 9, one<isnan>},
    {"Less", 1, legacy_two<lt>, 2, kLegacy},
    {"Less", 7, two<lt>, 2},
    {"LessOrEqual", 12, two<le>, 2},
    {"Log", 1, one<log>, 1, "consumed_inputs"},
    {"Max", 1, several<maximum>, kAny, "consumed_inputs"},
    {"Mean", 1, mean_of_several, kAny, "consumed_inputs"},
    {"Min", 1, several<minimum>, kAny, "consumed_inputs"},
    {"Mod", 10, modulo, 2, "fmod"},
    {"Mul", 1, legacy_two<mul>, 2, kLegacy},
    {"Mul", 7, two<mul>, 2},
    {"Neg", 1, one<negated>, 1, "consumed_inputs"},
    {"Not", 1, one<logical_not>},
    {"Or", 1, legacy_two<logical_or>, 2, kLegacy},
    {"Or", 7, two<logical_or>, 2},
    {"Pow", 1, legacy_power, 2, kLegacy},
    {"Pow", 7, power, 2},
    {"Reciprocal", 1, one<reciprocal>, 1, "consumed_inputs"},
    {"Round", 11, one<round>},
    {"Sign", 9, one<sign>},
    {"Sin", 7, one<sin>},
    {"Sinh", 9, one<sinh>},
    {"Sqrt", 1, one<sqrt>, 1, "consumed_inputs"},
    {"Sub", 1, legacy_two<minus>, 2, kLegacy},
    {"Sub", 7, two<minus>, 2},
    {"Sum", 1, several<plus>, kAny, "consumed_inputs"},
    {"Tan", 7, one<tan>},
    {"Where", 9, select_where, 3},
    {"Xor", 1, legacy_two<logical_xor>, 2, kLegacy},
    {"Xor", 7, two<logical_xor>, 2},
};

}  // namespace

Family math_family() { return kMath; }

}  // namespace keyway::inline v1::onnx
