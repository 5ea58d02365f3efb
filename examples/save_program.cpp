// Captures a small network as a program for any number of rows, and saves it: save_program FILE
#include <keyway/graph/program.h>
#include <keyway/keyway.h>

#include <cstdio>

using namespace keyway;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  manual_seed(0);
  const Tensor first = rand({64, 16}), second = rand({4, 64}), bias = rand({4});
  // In a function of its own: what it computes besides is gone when the capture ends.
  const auto scores = [&](const Tensor& x) {
    return softmax(linear(relu(linear(x, first)), second, bias), -1).reshape({x.size(0) * 2, 2});
  };
  std::vector<graph::Graph> captures;
  std::vector<graph::Dimensions> sizes;
  for (const std::int64_t rows : {5, 6, 8, 11, 17, 24}) {
    const Tensor x = rand({rows, 16});
    graph::Capture capture(graph::Level::Program);
    capture.add_argument(x, "x");
    captures.push_back(capture.finish({scores(x)}));
    sizes.push_back({{"rows", rows}});
  }
  const graph::Program program(captures, sizes);
  program.save(argv[1]);
  std::printf("%s", program.text().c_str());
}
