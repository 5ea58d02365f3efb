// Functions of one number.
#include <keyway/onnx/export/operators/common.h>

#include <cmath>

namespace keyway::inline v1::onnx::exporter {

namespace {

Var x_of(const Call& call) { return call.as("self", call.result_dtype()); }

// Of integers nothing is left to do.
Vars rounding(const Call& call) {
  return is_floating_point(call.result_dtype()) ? one(call) : Vars(call.tensor("self"));
}
Vars cut_off(const Call& call) {
  const Var x = x_of(call);
  if (!is_floating_point(x.dtype)) return x;
  return call.node("Mul", {call.node("Sign", {x}), call.node("Floor", {call.node("Abs", {x})})});
}
Vars fraction(const Call& call) { return call.node("Sub", {x_of(call), cut_off(call).front()}); }

Vars inverse_root(const Call& call) { return call.node("Reciprocal", {call.node("Sqrt", {x_of(call)})}); }
Vars squared(const Call& call) { return call.node("Mul", {x_of(call), x_of(call)}); }
Vars power_of_2(const Call& call) { return call.node("Pow", {call.number(2, call.result_dtype()), x_of(call)}); }
// exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), which is exact near 0.
Vars exp_minus_1(const Call& call) {
  const Var x = x_of(call);
  const Var half = call.node("Tanh", {call.node("Mul", {x, call.number(0.5, x.dtype)})});
  return call.node("Mul", {half, call.node("Add", {call.node("Exp", {x}), call.number(1, x.dtype)})});
}
// log(u) * x / (u - 1) with u = 1 + x, rounded, which is exact near 0.
Vars log_of_1_plus(const Call& call) {
  const Var x = x_of(call), unit = call.number(1, x.dtype);
  const Var u = call.node("Add", {x, unit}), rest = call.node("Sub", {u, unit});
  const Var quotient = call.node("Div", {x, rest});
  const Var log = call.node("Mul", {call.node("Log", {u}), quotient});
  const Var is_tiny = call.node("Equal", {u, unit}, kBool);
  const Var is_infinite = call.node("IsInf", {x}, kBool);
  return call.node("Where", {is_tiny, x, call.node("Where", {is_infinite, call.node("Log", {u}), log}, x.dtype)},
                   x.dtype);
}
Vars logarithm(const Call& call, double base) {
  const Var x = x_of(call);
  return call.node("Mul", {call.node("Log", {x}), call.number(1 / std::log(base), x.dtype)});
}
Vars log_2(const Call& call) { return logarithm(call, 2); }
Vars log_10(const Call& call) { return logarithm(call, 10); }

Vars error_rest(const Call& call) {
  return call.node("Sub", {call.number(1, call.result_dtype()), call.node("Erf", {x_of(call)})});
}
Vars to_radians(const Call& call) {
  return call.node("Mul", {x_of(call), call.number(M_PI / 180, call.result_dtype())});
}
Vars to_degrees(const Call& call) {
  return call.node("Mul", {x_of(call), call.number(180 / M_PI, call.result_dtype())});
}

Vars logit_of(const Call& call) {
  Var x = x_of(call);
  const Var unit = call.number(1, x.dtype);
  if (call.has("eps")) {
    x = call.node("Max", {x, call.number(call.real("eps"), x.dtype)});
    x = call.node("Min", {x, call.number(1 - call.real("eps"), x.dtype)});
  }
  return call.node("Log", {call.node("Div", {x, call.node("Sub", {unit, x})})});
}
Vars sinc_of(const Call& call) {
  const Var x = call.node("Mul", {x_of(call), call.number(M_PI, call.result_dtype())});
  const Var is_zero = call.node("Equal", {x, call.number(0, x.dtype)}, kBool);
  return call.node("Where", {is_zero, call.number(1, x.dtype), call.node("Div", {call.node("Sin", {x}), x})}, x.dtype);
}

Vars not_of(const Call& call) { return call.node("Not", {call.as("self", kBool)}); }
Vars bits_not(const Call& call) { return call.node(call.result_dtype() == kBool ? "Not" : "BitwiseNot", {x_of(call)}); }

// Of dtypes that have no such values: whether x differs from itself.
Var is_float(const Call& call, std::string_view op, const Attributes& attributes = {}) {
  const Var x = call.tensor("self");
  if (is_floating_point(x.dtype)) return call.node(op, {x}, kBool, attributes);
  return call.node("Not", {call.node("Equal", {call.cast(x, kLong), call.cast(x, kLong)}, kBool)});
}
Vars is_nan(const Call& call) { return is_float(call, "IsNaN"); }
Vars is_inf(const Call& call) {
  return is_float(call, "IsInf", {{"detect_negative", call.word() != "+"}, {"detect_positive", call.word() != "-"}});
}
Vars is_finite(const Call& call) {
  return call.node("Not", {call.node("Or", {is_float(call, "IsNaN"), is_float(call, "IsInf")})});
}

Vars without_nan(const Call& call) {
  const Var x = x_of(call);
  if (!is_floating_point(x.dtype)) return x;
  const bool is_single = x.dtype == kFloat;
  if (!is_single && x.dtype != kDouble) call.refuse("the largest number of narrow floats is not exported");
  const double most = is_single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  const auto or_else = [&](std::string_view name, double otherwise) {
    return call.number(call.has(name) ? call.real(name) : otherwise, x.dtype);
  };
  const Var above = call.node("IsInf", {x}, kBool, {{"detect_negative", false}});
  const Var below = call.node("IsInf", {x}, kBool, {{"detect_positive", false}});
  Var y = call.node("Where", {call.node("IsNaN", {x}, kBool), or_else("nan", 0), x}, x.dtype);
  y = call.node("Where", {above, or_else("posinf", most), y}, x.dtype);
  return call.node("Where", {below, or_else("neginf", -most), y}, x.dtype);
}

Vars sign_of(const Call& call) {
  return call.result_dtype() == kBool ? Vars(call.tensor("self")) : Vars(call.node("Sign", {x_of(call)}));
}

constexpr Mapping kUnary[] = {
    {"_nan_to_num", without_nan},
    {"abs", one, "Abs"},
    {"acos", one, "Acos"},
    {"acosh", one, "Acosh"},
    {"asin", one, "Asin"},
    {"asinh", one, "Asinh"},
    {"atan", one, "Atan"},
    {"atanh", one, "Atanh"},
    {"bitwise_not", bits_not},
    {"ceil", rounding, "Ceil"},
    {"conj_physical", same},
    {"cos", one, "Cos"},
    {"cosh", one, "Cosh"},
    {"deg2rad", to_radians},
    {"erf", one, "Erf"},
    {"erfc", error_rest},
    {"exp", one, "Exp"},
    {"exp2", power_of_2},
    {"expm1", exp_minus_1},
    {"floor", rounding, "Floor"},
    {"frac", fraction},
    {"isfinite", is_finite},
    {"isinf", is_inf},
    {"isnan", is_nan},
    {"isneginf", is_inf, "-"},
    {"isposinf", is_inf, "+"},
    {"log", one, "Log"},
    {"log10", log_10},
    {"log1p", log_of_1_plus},
    {"log2", log_2},
    {"logical_not", not_of},
    {"logit", logit_of},
    {"nan_to_num", without_nan},
    {"neg", one, "Neg"},
    {"positive", same},
    {"rad2deg", to_degrees},
    {"reciprocal", one, "Reciprocal"},
    {"round", rounding, "Round"},
    {"rsqrt", inverse_root},
    {"sgn", sign_of},
    {"sign", sign_of},
    {"sin", one, "Sin"},
    {"sinc", sinc_of},
    {"sinh", one, "Sinh"},
    {"sqrt", one, "Sqrt"},
    {"square", squared},
    {"tan", one, "Tan"},
    {"tanh", one, "Tanh"},
    {"trunc", cut_off},
};

}  // namespace

Family unary_family() { return kUnary; }

}  // namespace keyway::inline v1::onnx::exporter
