// Arithmetic of two numbers and more.
#include <keyway/onnx/export/operators/common.h>

#include <cmath>

namespace keyway::inline v1::onnx::exporter {

namespace {

// 'other' times 'alpha'.
Var scaled(const Call& call, std::string_view name, ScalarType dtype) {
  const Var other = call.as(name, dtype);
  if (!call.has("alpha") || call.number("alpha").to<complex<double>>() == complex<double>(1, 0)) return other;
  return call.node("Mul", {other, call.as("alpha", dtype)});
}

bool is_bool(const Call& call) { return call.result_dtype() == kBool; }

Vars sum(const Call& call) {
  const ScalarType dtype = is_bool(call) ? kLong : call.result_dtype();
  return call.node(call.word(), {call.as("self", dtype), scaled(call, "other", dtype)});
}
Vars reversed_difference(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  return call.node("Sub", {call.as("other", dtype), scaled(call, "self", dtype)});
}
Vars product(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  return call.node(is_bool(call) ? "And" : "Mul", {call.as("self", dtype), call.as("other", dtype)});
}

Var floored(const Call& call, const Var& a, const Var& b) {
  if (is_floating_point(a.dtype)) return call.node("Floor", {call.node("Div", {a, b})});
  return call.node("Div", {call.node("Sub", {a, call.node("Mod", {a, b})}), b});
}
Var cut(const Call& call, const Var& a, const Var& b) {
  const Var quotient = call.node("Div", {a, b});
  if (!is_floating_point(a.dtype)) return quotient;
  return call.node("Mul", {call.node("Sign", {quotient}), call.node("Floor", {call.node("Abs", {quotient})})});
}
Vars quotient(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var a = call.as("self", dtype), b = call.as("other", dtype);
  if (!call.has("rounding_mode")) return call.node("Div", {a, b});
  return call.text("rounding_mode") == "floor" ? floored(call, a, b) : cut(call, a, b);
}
Vars floor_quotient(const Call& call) {
  return floored(call, call.as("self", call.result_dtype()), call.as("other", call.result_dtype()));
}
Vars cut_quotient(const Call& call) {
  return cut(call, call.as("self", call.result_dtype()), call.as("other", call.result_dtype()));
}

Vars remainder(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var a = call.as("self", dtype), b = call.as("other", dtype);
  if (!is_floating_point(dtype)) return call.node("Mod", {a, b});
  // Of the sign of the divisor.
  const Var rest = call.node("Mod", {a, b}, {{"fmod", true}});
  const Var zero = call.number(0, dtype);
  const Var differs = call.node("Less", {call.node("Mul", {rest, b}), zero}, kBool);
  return call.node("Where", {differs, call.node("Add", {rest, b}), rest}, dtype);
}
Vars truncated_remainder(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  return call.node("Mod", {call.as("self", dtype), call.as("other", dtype)}, {{"fmod", true}});
}

Vars power(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  return call.node("Pow", {call.as("self", dtype), call.as("exponent", dtype)});
}

Vars larger_or_smaller(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  if (dtype == kBool) {
    return call.node(call.word() == "Max" ? "Or" : "And", {call.as("self", dtype), call.as("other", dtype)});
  }
  return call.node(call.word(), {call.as("self", dtype), call.as("other", dtype)});
}

Vars clamped(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  Var x = call.as("self", dtype);
  if (call.has("min")) x = call.node("Max", {x, call.as("min", dtype)});
  if (call.has("max")) x = call.node("Min", {x, call.as("max", dtype)});
  return x;
}

Vars interpolated(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var from = call.as("self", dtype);
  const Var way = call.node("Sub", {call.as("end", dtype), from});
  return call.node("Add", {from, call.node("Mul", {call.as("weight", dtype), way})});
}

// self + value * tensor1 (times or through) tensor2.
Vars added(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var what = call.node(call.word(), {call.as("tensor1", dtype), call.as("tensor2", dtype)});
  return call.node("Add", {call.as("self", dtype), call.node("Mul", {call.as("value", dtype), what})});
}

Vars hypotenuse(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var a = call.as("self", dtype), b = call.as("other", dtype);
  return call.node("Sqrt", {call.node("Add", {call.node("Mul", {a, a}), call.node("Mul", {b, b})})});
}

// self * log(other), and 0 where self is 0 and other no NaN.
Vars x_log_y(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var x = call.as("self", dtype), y = call.as("other", dtype), zero = call.number(0, dtype);
  const Var product = call.node("Mul", {x, call.node("Log", {y})});
  const Var is_zero = call.node("Equal", {x, zero}, kBool);
  const Var is_number = call.node("Not", {call.node("IsNaN", {y}, kBool)});
  return call.node("Where", {call.node("And", {is_zero, is_number}), zero, product}, dtype);
}

// log(exp(a) + exp(b)): the larger one, and what the distance adds.
Vars log_add_exp(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var a = call.as("self", dtype), b = call.as("other", dtype);
  const Var larger = call.node("Max", {a, b});
  const Var distance = call.node("Neg", {call.node("Abs", {call.node("Sub", {a, b})})});
  const Var rest = call.node("Softplus", {distance});
  return call.node("Where",
                   {call.node("Equal", {a, b}, kBool), call.node("Add", {a, call.number(std::log(2.0), dtype)}),
                    call.node("Add", {larger, rest})},
                   dtype);
}

Vars heaviside(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var x = call.as("self", dtype), zero = call.number(0, dtype);
  const Var step = call.cast(call.node("Greater", {x, zero}, kBool), dtype);
  return call.node("Where", {call.node("Equal", {x, zero}, kBool), call.as("values", dtype), step}, dtype);
}

Vars times_power_of_2(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var power = call.node("Pow", {call.number(2, dtype), call.as("other", dtype)});
  return call.node("Mul", {call.as("self", dtype), power});
}

Vars angle_of(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var y = call.as("self", dtype), x = call.as("other", dtype), zero = call.number(0, dtype);
  const Var pi = call.number(M_PI, dtype), half = call.number(M_PI / 2, dtype);
  const Var inner = call.node("Atan", {call.node("Div", {y, x})});
  const Var below = call.node("Less", {y, zero}, kBool);
  const Var turned = call.node("Where", {below, call.node("Sub", {inner, pi}), call.node("Add", {inner, pi})}, dtype);
  const Var left = call.node("Where", {call.node("Less", {x, zero}, kBool), turned, inner}, dtype);
  const Var upright = call.node("Mul", {call.node("Sign", {y}), half});
  return call.node("Where", {call.node("Equal", {x, zero}, kBool), upright, left}, dtype);
}

constexpr Mapping kMath[] = {
    {"_div_trunc", cut_quotient},
    {"add.Scalar", sum, "Add"},
    {"add.Tensor", sum, "Add"},
    {"addcdiv", added, "Div"},
    {"addcmul", added, "Mul"},
    {"atan2", angle_of},
    {"clamp", clamped},
    {"clamp.Tensor", clamped},
    {"clamp_max", clamped},
    {"clamp_max.Tensor", clamped},
    {"clamp_min", clamped},
    {"clamp_min.Tensor", clamped},
    {"div.Scalar", quotient},
    {"div.Scalar_mode", quotient},
    {"div.Tensor", quotient},
    {"div.Tensor_mode", quotient},
    {"float_power.Scalar", power},
    {"float_power.Tensor_Scalar", power},
    {"float_power.Tensor_Tensor", power},
    {"floor_divide", floor_quotient},
    {"fmod.Scalar", truncated_remainder},
    {"fmod.Tensor", truncated_remainder},
    {"heaviside", heaviside},
    {"hypot", hypotenuse},
    {"ldexp.Tensor", times_power_of_2},
    {"lerp.Scalar", interpolated},
    {"lerp.Tensor", interpolated},
    {"logaddexp", log_add_exp},
    {"maximum", larger_or_smaller, "Max"},
    {"max.other", larger_or_smaller, "Max"},
    {"minimum", larger_or_smaller, "Min"},
    {"min.other", larger_or_smaller, "Min"},
    {"mul.Scalar", product},
    {"mul.Tensor", product},
    {"pow.Scalar", power},
    {"pow.Tensor_Scalar", power},
    {"pow.Tensor_Tensor", power},
    {"remainder.Scalar", remainder},
    {"remainder.Scalar_Tensor", remainder},
    {"remainder.Tensor", remainder},
    {"rsub.Scalar", reversed_difference},
    {"rsub.Tensor", reversed_difference},
    {"sub.Scalar", sum, "Sub"},
    {"sub.Tensor", sum, "Sub"},
    {"xlogy.Scalar_Other", x_log_y},
    {"xlogy.Scalar_Self", x_log_y},
    {"xlogy.Tensor", x_log_y},
};

}  // namespace

Family math_family() { return kMath; }

}  // namespace keyway::inline v1::onnx::exporter
