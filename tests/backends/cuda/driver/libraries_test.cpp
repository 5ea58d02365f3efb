// The first thing to know of a machine: whether its device computes, and with which libraries of the toolkit.
#include <keyway/core/device/device_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

using namespace keyway;
using namespace keyway::testing;

namespace {

// The file of a library that this process has open, by the start of its name; empty if it has none.
std::string open_file(std::string_view name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find('/');
    if (at != std::string::npos && line.substr(line.rfind('/') + 1).starts_with(name)) return line.substr(at);
  }
  return {};
}

}  // namespace

TEST_CASE("a device computes") {
  if (lacks_device()) return;
  const Tensor numbers = scattered({1000}, -99, 99).to(kFloat);
  CHECK(same_values(on_cuda(numbers) + on_cuda(numbers), numbers + numbers));
  if (needs_device()) WARN("CUDA devices: " << device_count(kCUDA));
}

TEST_CASE("a device opens the libraries of the toolkit") {
  if (!has_products()) return;
  const Tensor square = on_cuda(scattered({8, 8}, -3, 3).to(kFloat)), image = square.view({1, 1, 8, 8});
  CHECK(mm(square, square).device().type() == kCUDA);
  CHECK(convolution(image, image, {}, {1}, {1}, {1}, false, {0}, 1).device().type() == kCUDA);
  CHECK(view_as_real(_fft_c2c(square.to(kComplexFloat), {0}, 0, true)).device().type() == kCUDA);
  CHECK(linalg_cholesky(eye(8, square.options())).device().type() == kCUDA);
  synchronize(kCUDA);
  // Convolutions do without cuDNN where it is not installed, and nobody has to install it for the other tests.
  if (!needs_device() || std::getenv("KEYWAY_EMULATED_CUDA") != nullptr) return;
  for (const char* const name : {"libcublasLt.so", "libcudnn.so", "libcufft.so", "libcusolver.so"}) {
    INFO(name);
    const std::string file = open_file(name);
    CHECK_FALSE(file.empty());
    if (!file.empty()) WARN(file);
  }
}
