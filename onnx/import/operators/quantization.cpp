// Quantization by a scale and a zero point.
#include <keyway/onnx/import/operators/convolve.h>
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

namespace keyway::inline v1::onnx {

namespace {

using Sizes = std::vector<std::int64_t>;

struct Range {
  std::int64_t least;
  std::int64_t most;
};

Range range_of_type(const Call& call, ScalarType dtype) {
  switch (dtype) {
    case kByte: return {0, 255};
    case kChar: return {-128, 127};
    case kUInt16: return {0, 65535};
    case kShort: return {-32768, 32767};
    default: call.refuse("quantization to {} is not there", dtype);
  }
}

// A scale or zero point for x: of one element, of an axis, or of blocks along it.
Tensor spread(const Call& call, const Tensor& parameter, const Tensor& x) {
  const std::int64_t block = call.attribute("block_size", 0);
  if (parameter.numel() == 1 && parameter.dim() <= 1) return reshape(parameter, Sizes());
  const std::int64_t axis = call.axis(call.attribute("axis", 1), x.dim());
  if (block > 0) return slice(repeat_interleave(parameter, block, axis), axis, 0, x.size(axis), 1);
  call.check(parameter.dim() == 1 && parameter.numel() == x.size(axis), "{} scales for a dimension of {}",
             parameter.numel(), x.size(axis));
  Sizes sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[static_cast<std::size_t>(axis)] = parameter.numel();
  return reshape(parameter, sizes);
}

Tensor rounded_to(const Call& call, const Tensor& scaled, const std::optional<Tensor>& zero_point, ScalarType dtype) {
  const Range range = range_of_type(call, dtype);
  Tensor y = round(scaled);
  if (zero_point) y = add(y, zero_point->to(y.dtype()));
  return clamp(y, Scalar(range.least), Scalar(range.most)).to(dtype);
}

Results quantize(const Call& call) {
  const Tensor& x = call.tensor(0);
  ScalarType dtype = call.has(2) ? call.tensor(2).dtype() : kByte;
  if (call.attribute("output_dtype", 0) != 0) dtype = dtype_of_element_type(call.attribute("output_dtype"));
  const Tensor scale = spread(call, call.tensor(1), x);
  std::optional<Tensor> zero_point;
  if (call.has(2)) zero_point = spread(call, call.tensor(2), x);
  if (is_float8(dtype)) return {div(x, scale).to(dtype)};
  return {rounded_to(call, div(x.to(kFloat), scale.to(kFloat)), zero_point, dtype)};
}

// Integers of 64 bits hold every difference.
Tensor centered(const Tensor& x, const std::optional<Tensor>& zero_point) {
  return zero_point ? sub(x.to(kLong), zero_point->to(kLong)) : x.to(kLong);
}

Results dequantize(const Call& call) {
  const Tensor& x = call.tensor(0);
  const Tensor scale = spread(call, call.tensor(1), x);
  if (is_float8(x.dtype())) return {mul(x.to(scale.dtype()), scale)};
  std::optional<Tensor> zero_point;
  if (call.has(2)) zero_point = spread(call, call.tensor(2), x);
  return {mul(centered(x, zero_point).to(scale.dtype()), scale)};
}

Results quantize_dynamically(const Call& call) {
  const Tensor& x = call.tensor(0);
  const Tensor least = clamp_max(amin(x), Scalar(0));
  const Tensor most = clamp_min(amax(x), Scalar(0));
  const Tensor scale = div(sub(most, least), Scalar(255));
  const Tensor zero_point = clamp(round(div(neg(least), scale)), Scalar(0), Scalar(255)).to(kByte);
  return {rounded_to(call, div(x, scale), zero_point, kByte), scale, zero_point};
}

// A zero point for each row of a left operand, or each column of a right one.
std::optional<Tensor> zero_point_if(const Call& call, std::size_t input, bool of_rows) {
  if (!call.has(input)) return std::nullopt;
  const Tensor& given = call.tensor(input);
  if (given.numel() == 1) return reshape(given, Sizes());
  return of_rows && given.dim() == 1 ? unsqueeze(given, -1) : given;
}

Results integer_product(const Call& call) {
  const Tensor a = centered(call.tensor(0), zero_point_if(call, 2, true));
  const Tensor b = centered(call.tensor(1), zero_point_if(call, 3, false));
  return {matmul(a, b).to(kInt)};
}

// Sums of products of 8 bits are exact in float64.
Tensor exact_convolution(const Call& call, const Tensor& x, const Tensor& weight) {
  return convolve(call, x.to(kDouble), weight.to(kDouble), std::nullopt);
}

// A zero point of each channel of the output.
std::optional<Tensor> weight_zero_point(const Call& call, std::size_t input, const Tensor& weight) {
  if (!call.has(input)) return std::nullopt;
  const Tensor& given = call.tensor(input);
  if (given.numel() == 1) return reshape(given, Sizes());
  Sizes sizes(static_cast<std::size_t>(weight.dim()), 1);
  sizes[0] = given.numel();
  return reshape(given, sizes);
}

Results integer_convolution(const Call& call) {
  const Tensor x = centered(call.tensor(0), zero_point_if(call, 2, true));
  const Tensor weight = centered(call.tensor(1), weight_zero_point(call, 3, call.tensor(1)));
  return {exact_convolution(call, x, weight).to(kInt)};
}

Results quantized_product(const Call& call) {
  const auto column = [&](std::size_t input, bool of_rows) { return *zero_point_if(call, input, of_rows); };
  const Tensor a = centered(call.tensor(0), zero_point_if(call, 2, true));
  const Tensor b = centered(call.tensor(3), zero_point_if(call, 5, false));
  const Tensor scale = div(mul(column(1, true), column(4, false)), column(6, true));
  return {rounded_to(call, mul(matmul(a, b).to(kFloat), scale), zero_point_if(call, 7, true), call.tensor(7).dtype())};
}

Results quantized_convolution(const Call& call) {
  const Tensor& weights = call.tensor(3);
  const Tensor x = centered(call.tensor(0), zero_point_if(call, 2, true));
  const Tensor weight = centered(weights, weight_zero_point(call, 5, weights));
  Tensor y = exact_convolution(call, x, weight);
  Sizes channels(static_cast<std::size_t>(weights.dim() - 1), 1);
  channels[0] = -1;
  if (call.has(8)) y = add(y, reshape(call.tensor(8), channels).to(kDouble));
  const Tensor weight_scale =
      call.tensor(4).numel() == 1 ? reshape(call.tensor(4), Sizes()) : reshape(call.tensor(4), channels);
  const Tensor scale = div(mul(reshape(call.tensor(1), Sizes()), weight_scale), reshape(call.tensor(6), Sizes()));
  return {rounded_to(call, mul(y.to(kFloat), scale), zero_point_if(call, 7, true), call.tensor(7).dtype())};
}

constexpr std::string_view kConvolutionAttributes = "auto_pad dilations group kernel_shape pads strides";

constexpr Operator kQuantizations[] = {
    {"ConvInteger", 10, integer_convolution, 4, kConvolutionAttributes},
    {"DequantizeLinear", 10, dequantize, 3},
    {"DequantizeLinear", 13, dequantize, 3, "axis"},
    {"DequantizeLinear", 21, dequantize, 3, "axis block_size"},
    {"DynamicQuantizeLinear", 11, quantize_dynamically, 1, "", 3},
    {"MatMulInteger", 10, integer_product, 4},
    {"QLinearConv", 10, quantized_convolution, 9, kConvolutionAttributes},
    {"QLinearMatMul", 10, quantized_product, 8},
    {"QuantizeLinear", 10, quantize, 3},
    {"QuantizeLinear", 13, quantize, 3, "axis"},
    {"QuantizeLinear", 19, quantize, 3, "axis saturate"},
    {"QuantizeLinear", 21, quantize, 3, "axis block_size output_dtype saturate"},
};

}  // namespace

Family quantization_family() { return kQuantizations; }

}  // namespace keyway::inline v1::onnx
