// What tests of graphs of CUDA tensors share: a program as a graph, and comparisons with its calls.
#pragma once

#include <keyway/tests/backends/cuda/driver/compared.h>

#include <functional>
#include <vector>

namespace keyway::inline v1::testing {

inline bool has_graphs() { return !lacks_device() && keeps_memory(); }

inline Tensor numbers(const Sizes& sizes, std::int64_t seed) {
  return on_cuda(scattered(sizes, -9, 9, seed).to(kFloat).div(8.0));
}

using Program = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

inline graph::Graph captured(const Program& program, const std::vector<Tensor>& arguments) {
  graph::Capture capture(graph::Level::Executed);
  for (const Tensor& argument : arguments) capture.add_argument(argument);
  return capture.finish(program(arguments));
}

inline bool are_same(const std::vector<Tensor>& some, const std::vector<Tensor>& others) {
  if (some.size() != others.size()) return false;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (!same_bits(some[i].detach(), others[i].detach().to(kCPU))) return false;
  }
  return true;
}

}  // namespace keyway::inline v1::testing
