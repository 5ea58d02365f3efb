#include <keyway/autograd/formulas/formula_words.h>
#include <keyway/autograd/helpers_convolution.h>
#include <keyway/autograd/helpers_unary.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

// convolution_backward computes two products, each linear in grad_output and in one of input and weight: the gradient
// of the input from the weight, that of the weight from the input. What is linear in one factor has its gradient by the
// same three products, with the other factor conjugated.
std::tuple<Tensor, Tensor, Tensor> convolution_double_backward(
    const Tensor& grad_input, const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& grad_output,
    const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
    bool transposed, IntArrayRef output_padding, std::int64_t groups, ArrayRef<bool> needs) {
  const auto forward = [&](const Tensor& x, const Tensor& w) {
    return convolution(x, w, {}, stride, padding, dilation, transposed, output_padding, groups);
  };
  const auto backward = [&](const Tensor& x, const Tensor& w, bool of_input) {
    return convolution_backward(conj(grad_output), x, w, std::nullopt, stride, padding, dilation, transposed,
                                output_padding, groups, {of_input, !of_input, false});
  };
  Tensor for_output, for_input, for_weight;
  if (needs[0]) {
    const auto add = [&](const Tensor& term) { for_output = for_output.defined() ? for_output + term : term; };
    if (grad_input.defined()) add(forward(grad_input, conj(weight)));
    if (grad_weight.defined()) add(forward(conj(input), grad_weight));
    if (grad_bias.defined()) {
      DimVector channels(static_cast<std::size_t>(grad_output.dim()), 1);
      channels[1] = grad_output.size(1);
      add(grad_bias.reshape(channels).expand(grad_output.sizes()));
    }
  }
  if (needs[1] && grad_weight.defined()) for_input = std::get<0>(backward(input, grad_weight, true));
  if (needs[2] && grad_input.defined()) for_weight = std::get<1>(backward(grad_input, weight, false));
  return {for_output, for_input, for_weight};
}

}  // namespace keyway::inline v1::autograd
