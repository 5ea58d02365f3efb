// Activations.
#include <keyway/onnx/export/operators/common.h>

#include <cmath>

namespace keyway::inline v1::onnx::exporter {

namespace {

Var x_of(const Call& call) { return call.tensor("self"); }
Var num(const Call& call, const Scalar& number) { return call.number(number, call.result_dtype()); }

Vars leaky(const Call& call) { return call.node("LeakyRelu", {x_of(call)}, {{"alpha", call.real("negative_slope")}}); }

// scale * x above 0, and scale * alpha * (exp(input_scale * x) - 1) below.
Vars elu_of(const Call& call) {
  if (call.real("input_scale") != 1) call.refuse("an 'input_scale' other than 1");
  const Var y = call.node("Elu", {x_of(call)}, {{"alpha", call.real("alpha")}});
  return call.real("scale") == 1 ? y : call.node("Mul", {y, num(call, call.number("scale"))});
}
Vars celu_of(const Call& call) { return call.node("Celu", {x_of(call)}, {{"alpha", call.real("alpha")}}); }
Vars selu_of(const Call& call) {
  return call.node("Selu", {x_of(call)}, {{"alpha", 1.6732632423543772}, {"gamma", 1.0507009873554805}});
}

Vars gelu_of(const Call& call) {
  const Var x = x_of(call);
  const bool is_tanh = call.text("approximate") == "tanh";
  if (call.opset() >= 20) return call.node("Gelu", {x}, {{"approximate", is_tanh ? "tanh" : "none"}});
  Var inner;
  if (is_tanh) {
    const Var cube = call.node("Mul", {call.node("Mul", {x, x}), x});
    const Var sum = call.node("Add", {x, call.node("Mul", {cube, num(call, 0.044715)})});
    inner = call.node("Tanh", {call.node("Mul", {sum, num(call, std::sqrt(2 / M_PI))})});
  } else {
    inner = call.node("Erf", {call.node("Mul", {x, num(call, std::sqrt(0.5))})});
  }
  const Var half = call.node("Mul", {x, num(call, 0.5)});
  return call.node("Mul", {half, call.node("Add", {inner, num(call, 1)})});
}

Vars gated(const Call& call) {
  const std::int64_t dim = call.dim("dim");
  const std::int64_t half = call.fixed_size_of("self", dim) / 2;
  const std::vector<Var> parts = call.nodes("Split", {x_of(call), call.ints(std::vector{half, half})},
                                            {call.result_dtype(), call.result_dtype()}, {{"axis", dim}});
  return call.node("Mul", {parts[0], call.node("Sigmoid", {parts[1]})});
}

Vars shrunk(const Call& call) {
  const double lambda = call.real("lambd");
  const bool is_soft = call.word() == "soft";
  return call.node("Shrink", {x_of(call)}, {{"lambd", lambda}, {"bias", is_soft ? lambda : 0.0}});
}

Vars hard_sigmoid(const Call& call) {
  return call.node("HardSigmoid", {x_of(call)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
}
Vars hard_tanh(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  return call.node("Clip", {x_of(call), call.as("min_val", dtype), call.as("max_val", dtype)});
}

Vars log_sigmoid_of(const Call& call) {
  return call.node("Neg", {call.node("Softplus", {call.node("Neg", {x_of(call)})})});
}
Vars silu_of(const Call& call) { return call.node("Mul", {x_of(call), call.node("Sigmoid", {x_of(call)})}); }

Vars softplus_of(const Call& call) {
  const Var x = x_of(call), beta = num(call, call.number("beta"));
  const Var scaled = call.node("Mul", {x, beta});
  const Var y = call.node("Div", {call.node("Softplus", {scaled}), beta});
  const Var is_above = call.node("Greater", {scaled, num(call, call.number("threshold"))}, kBool);
  return call.node("Where", {is_above, x, y}, x.dtype);
}

Vars threshold_of(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var x = call.as("self", dtype);
  const Var is_above = call.node("Greater", {x, call.as("threshold", dtype)}, kBool);
  return call.node("Where", {is_above, x, call.as("value", dtype)}, dtype);
}

// A slope for each channel, the second dimension.
Vars with_slope(const Call& call) {
  Var slope = call.tensor("weight");
  const std::int64_t rank = call.rank("self");
  if (call.rank("weight") == 1 && rank > 2) {
    std::vector<std::int64_t> dims;
    for (std::int64_t dim = 1; dim < rank - 1; ++dim) dims.push_back(dim);
    slope = call.unsqueeze(slope, dims);
  }
  return call.node("PRelu", {x_of(call), slope});
}

Vars softmax_of(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  if (call.rank("self") == 0) {
    return call.number(call.word() == "Softmax" ? 1 : 0, dtype);
  }
  return call.node(call.word(), {call.as("self", dtype)}, {{"axis", call.dim("dim")}});
}

constexpr Mapping kActivations[] = {
    {"_log_softmax", softmax_of, "LogSoftmax"},
    {"_softmax", softmax_of, "Softmax"},
    {"celu", celu_of},
    {"elu", elu_of},
    {"gelu", gelu_of},
    {"glu", gated},
    {"hardshrink", shrunk},
    {"hardsigmoid", hard_sigmoid},
    {"hardswish", one, "HardSwish"},
    {"hardtanh", hard_tanh},
    {"leaky_relu", leaky},
    {"log_sigmoid", log_sigmoid_of},
    {"log_softmax.int", softmax_of, "LogSoftmax"},
    {"mish", one, "Mish"},
    {"prelu", with_slope},
    {"relu", one, "Relu"},
    {"selu", selu_of},
    {"sigmoid", one, "Sigmoid"},
    {"silu", silu_of},
    {"softmax.int", softmax_of, "Softmax"},
    {"softplus", softplus_of},
    {"softshrink", shrunk, "soft"},
    {"threshold", threshold_of},
};

}  // namespace

Family activation_family() { return kActivations; }

}  // namespace keyway::inline v1::onnx::exporter
