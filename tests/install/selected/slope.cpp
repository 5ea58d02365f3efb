// The slope of x * x * x, and which operators the registry knows.
#include <keyway/keyway.h>

#include <cstdio>

int main() {
  const keyway::Tensor x = keyway::full({2}, 2.0, keyway::TensorOptions().requires_grad(true));
  (x * x * x).sum().backward();
  const auto& dispatcher = keyway::Dispatcher::singleton();
  std::printf("slope %g, %zu operators, relu is %s\n", x.grad().sum().item().to<double>(), dispatcher.ops().size(),
              dispatcher.find_op("relu") ? "there" : "not there");
}
