// Loads a program and runs it, without Python and without the source that it comes from: run_program FILE ROWS
// It can be linked with the operators of the program alone (docs/graphs/files.md).
#include <keyway/core/base/error.h>
#include <keyway/graph/program.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace keyway;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto milliseconds = [begin = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  try {
    graph::Program program = graph::Program::load(argv[1]);
    const Tensor x(make_tensor({std::atoi(argv[2]), 16}, ScalarType::Float, DeviceType::CPU));
    auto* const elements = static_cast<float*>(x.data_ptr());
    for (std::int64_t i = 0; i < x.numel(); ++i) elements[i] = 0.1f * static_cast<float>(i % 7);
    for (int run = 0; run < 3; ++run) {  // captured, made ready as a plan, as a plan
      const Tensor scores = program.run({x})[0];
      std::printf("%.3f ms: %lld rows, the first score is %.6f\n", milliseconds(),
                  static_cast<long long>(scores.size(0)), static_cast<const float*>(scores.data_ptr())[0]);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
