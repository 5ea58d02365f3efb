#include <keyway/autograd/normalization_formulas.h>
#include <keyway/autograd/pointwise_formulas.h>
#include <keyway/ops/all.h>

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

}  // namespace

// The gradient of the input is r P(h) with h = g w. Paired with a, the gradient that it receives, it is
// r n S with S = mean(a h) - mean(a) mean(h) - A H, A = mean(a x'), H = mean(h x'); and of a change dx of x,
//   dr = -r^2 mean(x' dx),  dA = r mean(P(a) dx),  dH = r mean(P(h) dx).
// So the gradient of x is -r^2 (S x' + H P(a) + A P(h)). The weight's gradient sum(g x'), paired with b, adds
// r P(b g), since P is its own transpose.
std::tuple<Tensor, Tensor, Tensor> layer_norm_double_backward(const Tensor& grad_input, const Tensor& grad_weight,
                                                              const Tensor& grad_bias, const Tensor& grad_out,
                                                              const Tensor& input, IntArrayRef normalized_shape,
                                                              const Tensor& mean, const Tensor& rstd,
                                                              const Tensor& weight, ArrayRef<bool> needs) {
  DimVector dims, rows;
  const auto first = input.dim() - static_cast<std::int64_t>(normalized_shape.size());
  for (std::int64_t d = 0; d < input.dim(); ++d) (d < first ? rows : dims).push_back(d);
  DimVector sizes(input.sizes().slice(0, static_cast<std::size_t>(first)));
  for (std::size_t i = 0; i < normalized_shape.size(); ++i) sizes.push_back(1);
  const Normalization of = normalization(input, dims, mean.reshape(sizes), rstd.reshape(sizes));
  const Tensor& r = of.scale;
  const Projection project{of.centered * r, dims};
  const auto weighed = [&](const Tensor& v) { return weight.defined() ? v * weight : v; };

  Tensor for_grad_out, for_input, for_weight;
  if (grad_input.defined()) {
    const Tensor& a = grad_input;
    const Tensor projected = project(a);
    if (needs[0]) add_term(for_grad_out, weighed(r * projected));
    if (needs[2] && weight.defined()) {
      const Tensor each = grad_out * r * projected;
      for_weight = rows.empty() ? each : each.sum(rows);
    }
    if (needs[1]) {
      const Tensor h = weighed(grad_out);
      const Tensor slope_a = project.mean(a * project.normal), slope_h = project.mean(h * project.normal);
      const Tensor s = project.mean(a * h) - project.mean(a) * project.mean(h) - slope_a * slope_h;
      add_term(for_input, -(r * r * (s * project.normal + slope_h * projected + slope_a * project(h))));
    }
  }
  if (grad_weight.defined()) {
    if (needs[0]) add_term(for_grad_out, grad_weight * project.normal);
    if (needs[1]) add_term(for_input, r * project(grad_weight * grad_out));
  }
  if (grad_bias.defined() && needs[0]) add_term(for_grad_out, grad_bias.expand(grad_out.sizes()));
  return {for_grad_out, for_input, for_weight};
}

}  // namespace keyway::inline v1::autograd
