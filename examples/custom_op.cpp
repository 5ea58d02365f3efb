// An operator of one's own, with a kernel for the CPU and a gradient, in one file.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/function.h>
#include <keyway/autograd/variable.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/all.h>

#include <cstdio>

using namespace keyway;

struct Cube : autograd::Function<Cube> {
  static Tensor forward(autograd::AutogradContext& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return x * x * x;
  }
  static autograd::variable_list backward(autograd::AutogradContext& ctx, autograd::variable_list grads) {
    const Tensor x = ctx.saved_tensors()[0];
    return {grads[0] * x * x * 3};
  }
};

KEYWAY_SCHEMA("my::cube(Tensor self) -> Tensor");
KEYWAY_LIBRARY(my, m) { m.def<"my::cube">(); }
KEYWAY_LIBRARY_IMPL(my, CPU, m) {
  m.impl<"my::cube">([](const Tensor& self) { return self * self * self; });
}
KEYWAY_LIBRARY_IMPL(my, Autograd, m) {
  m.impl<"my::cube">([](const Tensor& self) { return Cube::apply(self); });
}

int main() {
  const auto cube = Dispatcher::singleton().op("my::cube").typed<Tensor(const Tensor&)>();
  Tensor x = full({1}, 2.0).requires_grad_();
  const Tensor y = cube.call(x);
  autograd::backward({y});
  const double value = y.item().to<double>();
  const double slope = x.grad().item().to<double>();
  std::printf("cube(2) = %g, and its slope there is %g\n", value, slope);
  return value == 8 && slope == 12 ? 0 : 1;
}
