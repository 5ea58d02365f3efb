// What examples/run_program.cpp does with the network of examples/save_program.cpp, as calls of C++.
#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>
#include <keyway/tensor.h>

#include <cstdio>
#include <cstdlib>

using namespace keyway;

namespace {

Tensor filled(IntArrayRef sizes) {
  const Tensor tensor(make_tensor(sizes, ScalarType::Float, DeviceType::CPU));
  auto* const elements = static_cast<float*>(tensor.data_ptr());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) elements[i] = 0.1f * static_cast<float>(i % 7);
  return tensor;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const Tensor x = filled({std::atoi(argv[1]), 16}), first = filled({64, 16}), second = filled({4, 64});
    const Tensor hidden = relu(linear(x, first));
    const Tensor scores = softmax(linear(hidden, second, filled({4})), -1).reshape({x.size(0) * 2, 2});
    std::printf("%lld rows, the first score is %.6f\n", static_cast<long long>(scores.size(0)),
                static_cast<const float*>(scores.data_ptr())[0]);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
