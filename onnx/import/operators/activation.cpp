// Activations.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

namespace keyway::inline v1::onnx {

namespace {

Scalar parameter(const Call& call, std::string_view name, double otherwise) {
  return Scalar(call.single_attribute(name, otherwise));
}

Results leaky(const Call& call) { return {leaky_relu(call.tensor(0), parameter(call, "alpha", 0.01))}; }

Results elu_of(const Call& call) { return {elu(call.tensor(0), parameter(call, "alpha", 1))}; }

Results selu_of(const Call& call) {
  return {elu(call.tensor(0), parameter(call, "alpha", 1.67326319217681884765625),
              parameter(call, "gamma", 1.05070102214813232421875))};
}

Results celu_of(const Call& call) { return {celu(call.tensor(0), parameter(call, "alpha", 1))}; }

Results thresholded(const Call& call) { return {threshold(call.tensor(0), parameter(call, "alpha", 1), Scalar(0))}; }

Results hard_sigmoid(const Call& call) {
  const Tensor line = add(mul(call.tensor(0), parameter(call, "alpha", 0.2)), parameter(call, "beta", 0.5));
  return {clamp(line, Scalar(0), Scalar(1))};
}

Results softplus_of(const Call& call) {
  const Tensor& x = call.tensor(0);
  return {logaddexp(x, zeros_like(x))};
}

Results soft_sign(const Call& call) {
  const Tensor& x = call.tensor(0);
  return {div(x, add(abs(x), Scalar(1)))};
}

Results shrink(const Call& call) {
  const Tensor& x = call.tensor(0);
  const double lambda = call.single_attribute("lambd", 0.5);
  const Scalar bias = parameter(call, "bias", 0);
  const Tensor nothing = zeros_like(x);
  const Tensor above = where(gt(x, Scalar(lambda)), sub(x, bias).to(x.dtype()), nothing);
  return {where(lt(x, Scalar(-lambda)), add(x, bias).to(x.dtype()), above)};
}

// Before version 7 a slope for each channel.
Results with_slope(const Call& call) {
  const Tensor& x = call.tensor(0);
  Tensor slope = call.tensor(1);
  if (call.version() < 7 && slope.dim() == 1 && slope.numel() > 1) {
    for (std::int64_t i = 2; i < x.dim(); ++i) slope = unsqueeze(slope, -1);
  }
  return {where(lt(x, Scalar(0)), mul(x, slope), x)};
}

Results gelu_of(const Call& call) { return {gelu(call.tensor(0), call.text_attribute("approximate", "none"))}; }

Results swish(const Call& call) {
  const Tensor& x = call.tensor(0);
  return {mul(x, sigmoid(mul(x, parameter(call, "alpha", 1))))};
}

constexpr Operator kActivations[] = {
    {"Celu", 12, celu_of, 1, "alpha"},
    {"Elu", 1, elu_of, 1, "alpha consumed_inputs"},
    {"Gelu", 20, gelu_of, 1, "approximate"},
    {"HardSigmoid", 1, hard_sigmoid, 1, "alpha beta consumed_inputs"},
    {"HardSwish", 14, one<hardswish>},
    {"LeakyRelu", 1, leaky, 1, "alpha consumed_inputs"},
    {"Mish", 18, one<mish>},
    {"PRelu", 1, with_slope, 2, "consumed_inputs"},
    {"Relu", 1, one<relu>, 1, "consumed_inputs"},
    {"Selu", 1, selu_of, 1, "alpha gamma consumed_inputs"},
    {"Shrink", 9, shrink, 1, "bias lambd"},
    {"Sigmoid", 1, one<sigmoid>, 1, "consumed_inputs"},
    {"Softplus", 1, softplus_of},
    {"Softsign", 1, soft_sign},
    {"Swish", 24, swish, 1, "alpha"},
    {"Tanh", 1, one<tanh>, 1, "consumed_inputs"},
    {"ThresholdedRelu", 10, thresholded, 1, "alpha"},
};

}  // namespace

Family activation_family() { return kActivations; }

}  // namespace keyway::inline v1::onnx
