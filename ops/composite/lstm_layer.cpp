#include <keyway/ops/all.h>
#include <keyway/ops/recurrent_composites.h>

#include <tuple>

namespace keyway::inline v1::composite {

// Everything goes where it stays, so that a step takes eight calls.
std::tuple<Tensor, Tensor, Tensor> lstm_layer(const Tensor& inputs, const Tensor& hx, const Tensor& cx,
                                              const Tensor& weight_hh, bool reverse) {
  const std::int64_t length = inputs.size(0), width = hx.size(1);
  Tensor output = keyway::empty({length, hx.size(0), width}, inputs.options());
  Tensor cells = keyway::empty_like(output), gates = keyway::empty(inputs.sizes(), inputs.options());
  const Tensor weight = weight_hh.t();
  Tensor h = hx, c = cx;
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t i = reverse ? length - 1 - k : k;
    Tensor all = gates.select(0, i), next = cells.select(0, i), result = output.select(0, i);
    keyway::addmm_out(all, inputs.select(0, i), h, weight);
    all.narrow(1, 0, 2 * width).sigmoid_();
    all.narrow(1, 2 * width, width).tanh_();
    all.narrow(1, 3 * width, width).sigmoid_();
    keyway::mul_out(next, all.narrow(1, width, width), c);
    next.addcmul_(all.narrow(1, 0, width), all.narrow(1, 2 * width, width));
    keyway::tanh_out(result, next);
    result.mul_(all.narrow(1, 3 * width, width));
    h = result;
    c = next;
  }
  return {output, cells, gates};
}

}  // namespace keyway::inline v1::composite
