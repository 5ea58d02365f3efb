#include <keyway/autograd/formulas/add_term.h>
#include <keyway/autograd/helpers_normalization.h>
#include <keyway/ops/all.h>

#include <optional>

namespace keyway::inline v1::autograd {

namespace {

// What a layer norm does to a small change: P(v) = v - mean(v) - x' mean(v x'), with x' the normalised input.
struct Projection {
  Tensor normal;
  DimVector dims;

  Tensor mean(const Tensor& v) const { return v.mean(dims, true); }
  Tensor operator()(const Tensor& v) const { return v - mean(v) - normal * mean(v * normal); }
};

struct Normalization {
  Tensor centered;
  Tensor scale;
};

// Where its own derivative is taken, as functions of the input: the results `mean` and `rstd` have no history.
Normalization normalization(const Tensor& input, const DimVector& dims, const Tensor& mean, const Tensor& rstd) {
  if (!grad_enabled()) return {input - mean, rstd};
  const Tensor found = input.mean(dims, true);
  const Tensor centered = input - (found + (mean - found).detach());
  const Tensor variance = centered.square().mean(dims, true);
  const Tensor change = (variance - variance.detach()) * rstd.square() + 1;
  return {centered, rstd * change.rsqrt()};
}

// What layer norm and batch norm differ in.
struct Shape {
  DimVector dims;         // what is normalised over
  DimVector statistics;   // sizes of mean and rstd, broadcast over the input
  DimVector weights;      // sizes of weight and bias, broadcast over the input
  DimVector of_a_weight;  // the dimensions along which a weight serves all
};

// The gradient of the input is r P(h) with h = g w. Paired with a, the gradient that it receives, it is
// r n S with S = mean(a h) - mean(a) mean(h) - A H, A = mean(a x'), H = mean(h x'); and of a change dx of x,
//   dr = -r^2 mean(x' dx),  dA = r mean(P(a) dx),  dH = r mean(P(h) dx).
// So the gradient of x is -r^2 (S x' + H P(a) + A P(h)). The weight's gradient sum(g x'), paired with b, adds
// r P(b g), since P is its own transpose.
std::tuple<Tensor, Tensor, Tensor> double_backward(const Shape& shape, const Tensor& grad_input,
                                                   const Tensor& grad_weight, const Tensor& grad_bias,
                                                   const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                                   const Tensor& rstd, const Tensor& weight, ArrayRef<bool> needs) {
  const Normalization of =
      normalization(input, shape.dims, mean.reshape(shape.statistics), rstd.reshape(shape.statistics));
  const Tensor& r = of.scale;
  const Projection project{of.centered * r, shape.dims};
  const auto spread = [&](const Tensor& v) { return v.reshape(shape.weights); };
  const auto weighed = [&](const Tensor& v) { return weight.defined() ? v * spread(weight) : v; };

  Tensor for_grad_out, for_input, for_weight;
  if (grad_input.defined()) {
    const Tensor& a = grad_input;
    const Tensor projected = project(a);
    if (needs[0]) add_term(for_grad_out, weighed(r * projected));
    if (needs[2] && weight.defined()) {
      const Tensor each = grad_out * r * projected;
      for_weight = (shape.of_a_weight.empty() ? each : each.sum(shape.of_a_weight)).reshape(weight.sizes());
    }
    if (needs[1]) {
      const Tensor h = weighed(grad_out);
      const Tensor slope_a = project.mean(a * project.normal), slope_h = project.mean(h * project.normal);
      const Tensor s = project.mean(a * h) - project.mean(a) * project.mean(h) - slope_a * slope_h;
      add_term(for_input, -(r * r * (s * project.normal + slope_h * projected + slope_a * project(h))));
    }
  }
  if (grad_weight.defined()) {
    const Tensor b = spread(grad_weight);
    if (needs[0]) add_term(for_grad_out, b * project.normal);
    if (needs[1]) add_term(for_input, r * project(b * grad_out));
  }
  if (grad_bias.defined() && needs[0]) add_term(for_grad_out, spread(grad_bias).expand(grad_out.sizes()));
  return {for_grad_out, for_input, for_weight};
}

// Of all dimensions but that of channels.
Shape shape_of_batch(const Tensor& input) {
  Shape shape;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) shape.dims.push_back(d);
    shape.statistics.push_back(d == 1 ? input.size(1) : 1);
  }
  shape.weights = shape.statistics;
  shape.of_a_weight = shape.dims;
  return shape;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> layer_norm_double_backward(const Tensor& grad_input, const Tensor& grad_weight,
                                                              const Tensor& grad_bias, const Tensor& grad_out,
                                                              const Tensor& input, IntArrayRef normalized_shape,
                                                              const Tensor& mean, const Tensor& rstd,
                                                              const Tensor& weight, ArrayRef<bool> needs) {
  Shape shape;
  const auto first = input.dim() - static_cast<std::int64_t>(normalized_shape.size());
  for (std::int64_t d = 0; d < input.dim(); ++d) (d < first ? shape.of_a_weight : shape.dims).push_back(d);
  shape.statistics = input.sizes().slice(0, static_cast<std::size_t>(first));
  for (std::size_t i = 0; i < normalized_shape.size(); ++i) shape.statistics.push_back(1);
  shape.weights = normalized_shape;
  return double_backward(shape, grad_input, grad_weight, grad_bias, grad_out, input, mean, rstd, weight, needs);
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(const Tensor& grad_out, const Tensor& grad_mean,
                                                       const Tensor& grad_var, const Tensor& input, const Tensor& mean,
                                                       const Tensor& var, const Tensor& weight, double eps,
                                                       ArrayRef<bool> needs) {
  std::tuple<Tensor, Tensor, Tensor> gradients;
  if (grad_out.defined()) {
    const std::optional<Tensor> scale = weight.defined() ? std::optional(weight) : std::nullopt;
    gradients = keyway::_batch_norm_backward(grad_out, input, mean, var, scale, eps, needs);
  }
  if (!needs[0]) return gradients;
  // The slope of the mean is 1 / n, that of the variance 2 (x - mean) / n.
  const Shape shape = shape_of_batch(input);
  const double share = static_cast<double>(input.size(1)) / static_cast<double>(input.numel());
  Tensor& for_input = std::get<0>(gradients);
  if (grad_mean.defined()) {
    add_term(for_input, (grad_mean * share).reshape(shape.statistics).expand(input.sizes()).to(input.dtype()));
  }
  if (grad_var.defined()) {
    const Tensor slopes = (input - input.mean(shape.dims, true)) * (grad_var * (2 * share)).reshape(shape.statistics);
    add_term(for_input, slopes.to(input.dtype()));
  }
  return gradients;
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_double_backward(const Tensor& grad_input, const Tensor& grad_weight,
                                                              const Tensor& grad_bias, const Tensor& grad_out,
                                                              const Tensor& input, const Tensor& mean,
                                                              const Tensor& var, const Tensor& weight, double eps,
                                                              ArrayRef<bool> needs) {
  // Unlike a layer norm's, these may have a history, which normalization() stands for.
  const Tensor rstd = (var.detach() + eps).rsqrt();
  return double_backward(shape_of_batch(input), grad_input, grad_weight, grad_bias, grad_out, input, mean.detach(),
                         rstd, weight, needs);
}

}  // namespace keyway::inline v1::autograd
