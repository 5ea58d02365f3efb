#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/forward/dual.h>
#include <keyway/forward/gradcheck.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::forward {
namespace {

using autograd::variable_list;

struct Tolerance {
  double eps;
  double atol;
  double rtol;
};

// One element of one input, and how it is moved.
struct Move {
  std::size_t input;
  std::int64_t element;
  Scalar unit;
};

variable_list without_grad(const variable_list& inputs) {
  variable_list plain;
  for (const Tensor& input : inputs) plain.push_back(input.defined() ? input.detach() : input);
  return plain;
}

Tensor direction_at(const Move& move, const Tensor& input) {
  const Tensor direction = keyway::zeros(input.sizes(), input.options());
  direction.view({-1}).select(0, move.element).fill_(move.unit);
  return direction;
}

variable_list moved(const variable_list& inputs, const Move& move, const Tensor& direction, double by) {
  variable_list all = inputs;
  all[move.input] = inputs[move.input] + direction * by;
  return all;
}

void compare(const Tensor& tangent, const Tensor& difference, std::size_t result, const Move& move,
             const Tolerance& tolerance) {
  const Tensor host = difference.cpu();
  const Tensor found = tangent.defined() ? tangent.cpu() : keyway::zeros_like(host);
  const Tensor wrong = (found - host).abs().le(host.abs() * tolerance.rtol + tolerance.atol).logical_not();
  if (!wrong.any().item().to<bool>()) return;
  const Tensor at = wrong.reshape({-1}).nonzero().select(0, 0).select(0, 0);
  const std::int64_t element = at.item().to<std::int64_t>();
  KEYWAY_FAIL(Autograd,
              "gradcheck: forward mode: the tangent of result {}, element {}, along element {} of input {} is {}, but "
              "the difference quotient is {}",
              result, element, move.element, move.input, found.reshape({-1}).select(0, element).item(),
              host.reshape({-1}).select(0, element).item());
}

void check_move(const autograd::CheckedFunction& fn, const variable_list& inputs, const Move& move,
                const Tolerance& tolerance) {
  const Tensor direction = direction_at(move, inputs[move.input]);
  variable_list tangents;
  {
    const DualLevel level;
    variable_list duals = inputs;
    duals[move.input] = make_dual(inputs[move.input], direction);
    for (const Tensor& result : fn(duals)) tangents.push_back(unpack_dual(result).tangent);
  }
  const NoGradGuard no_grad;
  const variable_list above = fn(moved(inputs, move, direction, tolerance.eps));
  const variable_list below = fn(moved(inputs, move, direction, -tolerance.eps));
  for (std::size_t i = 0; i < above.size(); ++i) {
    if (!autograd::is_differentiable(above[i].dtype())) continue;
    compare(tangents[i], (above[i] - below[i]) / (2 * tolerance.eps), i, move, tolerance);
  }
}

}  // namespace

bool gradcheck(const autograd::CheckedFunction& fn, const variable_list& inputs, double eps, double atol, double rtol) {
  const Tolerance tolerance{eps, atol, rtol};
  const variable_list plain = without_grad(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !inputs[i].requires_grad()) continue;
    for (std::int64_t element = 0; element < inputs[i].numel(); ++element) {
      check_move(fn, plain, {i, element, Scalar(1.0)}, tolerance);
      if (is_complex(inputs[i].dtype())) check_move(fn, plain, {i, element, Scalar(complex<double>(0, 1))}, tolerance);
    }
  }
  return true;
}

}  // namespace keyway::inline v1::forward
