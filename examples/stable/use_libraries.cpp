// Loads the two libraries over the stable C ABI, and calls their operators as any other.
#include <keyway/dispatch/plugin/load_library.h>
#include <keyway/keyway.h>

#include <cstdio>
#include <exception>
#include <tuple>

using namespace keyway;

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) load_library(argv[i]);
    const auto op = [](const char* name) { return Dispatcher::singleton().op(name); };
    const Tensor x = arange(4, TensorOptions(kFloat32)).requires_grad_(true);

    const Tensor scaled = op("c_example::scale").typed<Tensor(const Tensor&, double)>().call(x.detach(), 0.5);
    const Tensor y = op("cpp_example::swish").typed<Tensor(const Tensor&, double)>().call(x, 2.0);
    y.sum().backward();
    const auto [same, slope] = op("cpp_example::swish_with_slope")
                                   .typed<std::tuple<Tensor, Tensor>(const Tensor&, double)>()
                                   .call(x.detach(), 2.0);
    const bool agree = equal(scaled, x.detach() * 0.5) && allclose(same, y.detach()) && allclose(slope, x.grad());
    std::printf("%s\n", agree ? "the kernels agree with the operators" : "the kernels and the operators differ");
    return agree ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
