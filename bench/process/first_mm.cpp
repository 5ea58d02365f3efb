// Prints how many milliseconds the first matrix product of a process takes: of square matrices with so many rows.
#include <keyway/bench/lib.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::int64_t side = std::atoll(argv[1]);
  const lib::Tensor a = lib::ones({side, side});
  const auto begin = std::chrono::steady_clock::now();
  const lib::Tensor product = lib::mm(a, a);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  std::printf("%.4f\n", spent.count());
  return product.defined() ? 0 : 1;
}
