#include <keyway/nn/functional/activation.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn::functional {

Tensor softsign(const Tensor& input) { return input.div(input.abs().add(1)); }

Tensor tanhshrink(const Tensor& input) { return input.sub(input.tanh()); }

Tensor softmin(const Tensor& input, std::int64_t dim) { return softmax(input.neg(), dim); }

Tensor rrelu(const Tensor& input, double lower, double upper, bool training, bool inplace) {
  KEYWAY_CHECK(lower <= upper, "rrelu: the bounds are {} and {}, but the lower one must not be greater", lower, upper);
  const Tensor below = input.detach().le(0);
  const Tensor factor = training
                            ? input.new_empty(input.sizes()).uniform_(lower, upper).masked_fill(below.logical_not(), 1)
                            : input.new_full(input.sizes(), 1).masked_fill(below, (lower + upper) / 2);
  return inplace ? input.mul_(factor) : input.mul(factor);
}

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, std::int64_t dim) {
  const Tensor noise = empty_like(logits.detach()).exponential_().log().neg();
  const Tensor smooth = logits.add(noise).div(tau).softmax(dim);
  if (!hard) return smooth;
  const Tensor known = smooth.detach();
  const Tensor chosen = zeros_like(known).scatter_(dim, known.argmax(dim, true), 1.0);
  return chosen.sub(known).add(smooth);
}

}  // namespace keyway::inline v1::nn::functional
