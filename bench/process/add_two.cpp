// A program that adds two tensors: what starting with the library costs. Prints its peak memory in KiB.
#include <keyway/bench/lib.h>
#include <keyway/bench/process/peak.h>

int main() {
  const lib::Tensor sum = lib::add(lib::ones({1}), lib::ones({1}));
  if (sum.item<float>() != 2) return 1;
  std::printf("%ld\n", bench::peak_kib());
}
