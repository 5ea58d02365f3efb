#include <keyway/ops/convolution.h>
#include <keyway/ops/convolution_composites.h>

namespace keyway::inline v1::composite {

namespace {

// One image instead of a batch makes a batch of one.
Tensor convolve(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
                IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                std::int64_t groups) {
  const bool batched = input.dim() == weight.dim();
  const Tensor result = keyway::convolution(batched ? input : input.unsqueeze(0), weight, bias, stride, padding,
                                            dilation, transposed, output_padding, groups);
  return batched ? result : result.squeeze(0);
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  return convolve(input, weight, bias, stride, padding, dilation, false, {0}, groups);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  return convolve(input, weight, bias, stride, padding, dilation, false, {0}, groups);
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, std::int64_t groups) {
  return convolve(input, weight, bias, stride, padding, dilation, false, {0}, groups);
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, std::int64_t groups,
                        IntArrayRef dilation) {
  return convolve(input, weight, bias, stride, padding, dilation, true, output_padding, groups);
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, std::int64_t groups,
                        IntArrayRef dilation) {
  return convolve(input, weight, bias, stride, padding, dilation, true, output_padding, groups);
}
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, std::int64_t groups,
                        IntArrayRef dilation) {
  return convolve(input, weight, bias, stride, padding, dilation, true, output_padding, groups);
}

}  // namespace keyway::inline v1::composite
