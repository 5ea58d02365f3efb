#include <keyway/autograd/helpers_cumulative.h>
#include <keyway/autograd/helpers_sorting.h>
#include <keyway/autograd/helpers_unary.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/all.h>

#include <limits>
#include <vector>

namespace keyway::inline v1::autograd {

Tensor value_selecting_backward(const Tensor& grad, std::int64_t dim, const Tensor& indices, IntArrayRef sizes,
                                bool keepdim) {
  const bool missing = !keepdim && !sizes.empty();
  return keyway::zeros(sizes, grad.options())
      .scatter(dim, missing ? indices.unsqueeze(dim) : indices, missing ? grad.unsqueeze(dim) : grad);
}

Tensor cumsum_backward(const Tensor& grad, std::int64_t dim) {
  if (grad.dim() == 0) return grad;
  return grad.flip({dim}).cumsum(dim).flip({dim});
}

// Element k has a part in the results from k on: the gradient is (product of all before k) s_k with
// s_k = g_k + x_(k+1) s_(k+1). Nothing is divided by, so zeros do no harm.
Tensor cumprod_backward(const Tensor& grad, const Tensor& self, std::int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  const std::int64_t n = self.size(dim);
  std::vector<Tensor> sums(static_cast<std::size_t>(n));
  sums.back() = grad.select(dim, n - 1);
  for (std::int64_t k = n - 1; k-- > 0;) {
    const auto i = static_cast<std::size_t>(k);
    sums[i] = grad.select(dim, k) + conj(self.select(dim, k + 1)) * sums[i + 1];
  }
  const Tensor first = keyway::ones_like(self.narrow(dim, 0, 1));
  const Tensor before = keyway::cat({first, self.narrow(dim, 0, n - 1).cumprod(dim)}, dim);
  return conj(before) * keyway::stack(sums, dim);
}

// Element k has the part exp(self_k - result_i) in each result i from k on: the sum of grad_i exp(-result_i) over these
// is again one of exponentials; of real gradients, of those that are positive less that of those that are negative.
Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, std::int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  // The exponential of a result of 16 bits has no digits left, so it is computed once more.
  if (const ScalarType wide = opmath_type(self.dtype()); wide != self.dtype()) {
    const Tensor x = self.to(wide);
    return logcumsumexp_backward(grad.to(wide), x, x.logcumsumexp(dim), dim).to(self.dtype());
  }
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  const Tensor from = result.masked_fill(keyway::real(result) == kNothing, 0);  // only elements of no part come before
  const auto part_of_exp = [&](const Tensor& exponent) {
    return ((exponent - from).flip({dim}).logcumsumexp(dim).flip({dim}) + self).exp();
  };
  const auto part = [&](const Tensor& gradient, const Tensor& absent) {
    return part_of_exp(gradient.masked_fill(absent, 1).log().masked_fill(absent, kNothing));
  };
  const auto value = [&] {
    if (self.is_complex()) return conj(part(conj(grad), grad == 0));
    return part(grad, grad <= 0) - part(-grad, grad >= 0);
  };
  if (!grad_enabled()) return value();
  // A logarithm has no derivative at 0, where the sum, which is linear in the gradients, has one: it is taken of
  // gradients that a constant moves away from 0, and what the constant adds is taken off again.
  const Tensor largest = grad.detach().abs().amax(), moved = keyway::where(largest == 0, 1, 2 * largest);
  const auto sum = [&](const Tensor& gradients) { return conj(part_of_exp(conj(gradients).log())); };
  const Tensor linear = sum(grad + moved) - sum(moved.expand(grad.sizes()).to(grad.dtype()));
  const NoGradGuard guard;
  const Tensor error = linear - value();  // of rounding: the value is the one that is computed without derivatives
  const AutoGradMode recorded;
  return linear - error;
}

}  // namespace keyway::inline v1::autograd
