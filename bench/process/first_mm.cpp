// Prints how many milliseconds the first matrix product of a process takes.
#include <keyway/bench/lib.h>

#include <chrono>
#include <cstdio>

int main() {
  const lib::Tensor a = lib::ones({64, 64});
  const auto begin = std::chrono::steady_clock::now();
  const lib::Tensor product = lib::mm(a, a);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  std::printf("%.4f\n", spent.count());
  return product.defined() ? 0 : 1;
}
