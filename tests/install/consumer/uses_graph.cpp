// A program that makes a graph, and runs it.
#include <keyway/keyway.h>

#include <cstdio>

using namespace keyway;

int main() {
  const Tensor x = ones({2});
  graph::Capture capture(graph::Level::Executed);
  capture.add_argument(x, "x");
  const graph::Graph twice = capture.finish({x + x});
  std::printf("%g\n", graph::Executable(twice).run({x})[0].sum().item().to<double>());
}
