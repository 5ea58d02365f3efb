// What does not wait for a step is computed for all steps at once: how cells and results depend on the gates, and the
// gradient of the weights, which is one product.
#include <keyway/autograd/helpers_recurrent.h>
#include <keyway/ops/all.h>

#include <vector>

namespace keyway::inline v1::autograd {

namespace {

// What each step begins with: what the one before has left in `states`.
Tensor before(const Tensor& states, const Tensor& first, bool reverse) {
  const Tensor begin = first.unsqueeze(0);
  const std::int64_t others = states.size(0) - 1;
  return reverse ? keyway::cat({states.narrow(0, 1, others), begin})
                 : keyway::cat({begin, states.narrow(0, 0, others)});
}

Tensor plus(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }
Tensor step_of(const Tensor& steps, std::int64_t i) { return steps.defined() ? steps.select(0, i) : steps; }

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> lstm_layer_backward(const Tensor& grad_output, const Tensor& grad_cells,
                                                               const Tensor& grad_gates, const Tensor& hx,
                                                               const Tensor& cx, const Tensor& weight_hh,
                                                               const Tensor& output, const Tensor& cells,
                                                               const Tensor& gates, bool reverse,
                                                               ArrayRef<bool> needs) {
  const std::int64_t length = gates.size(0), batch = hx.size(0), width = hx.size(1);
  const std::vector<Tensor> parts = gates.chunk(4, -1);
  const Tensor &in = parts[0], &keep = parts[1], &fresh = parts[2], &out = parts[3];
  const Tensor slope = keyway::cat({in * (1 - in), keep * (1 - keep), 1 - fresh * fresh, out * (1 - out)}, -1);
  const Tensor squashed = cells.tanh(), result_of_cell = out * (1 - squashed * squashed);
  // Of the first three gates by way of the cell, of the last by way of the result.
  const Tensor of_gates = keyway::cat({fresh, before(cells, cx, reverse), in, squashed}, -1) * slope;
  const Tensor of_cell = of_gates.narrow(-1, 0, 3 * width).unflatten(-1, {3, width});
  const Tensor of_result = of_gates.narrow(-1, 3 * width, width);
  const Tensor direct = grad_gates.defined() ? grad_gates * slope : Tensor();

  Tensor grad_h, grad_c;
  std::vector<Tensor> grads(static_cast<std::size_t>(length));
  for (std::int64_t k = length; k-- > 0;) {
    const std::int64_t i = reverse ? length - 1 - k : k;
    const Tensor h = plus(step_of(grad_output, i), grad_h);
    Tensor c = plus(step_of(grad_cells, i), grad_c);
    if (h.defined()) {
      const Tensor through = result_of_cell.select(0, i);
      c = c.defined() ? c.addcmul(h, through) : h * through;
    }
    Tensor grad = step_of(direct, i);
    if (c.defined()) {
      const Tensor three = (c.unsqueeze(1) * of_cell.select(0, i)).flatten(1);
      const Tensor last = h.defined() ? h * of_result.select(0, i) : keyway::zeros_like(c);
      grad = plus(grad, keyway::cat({three, last}, 1));
    }
    grads[static_cast<std::size_t>(i)] = grad;
    if (k > 0 || needs[1]) grad_h = grad.mm(weight_hh);
    if (c.defined()) grad_c = c * keep.select(0, i);
  }
  const Tensor all = keyway::stack(grads);
  if (!needs[3]) return {all, grad_h, grad_c, {}};
  const Tensor rows = all.reshape({length * batch, 4 * width});
  return {all, grad_h, grad_c, rows.t().mm(before(output, hx, reverse).reshape({length * batch, width}))};
}

}  // namespace keyway::inline v1::autograd
