// Fourier transforms on CUDA devices: cuFFT's, over whatever dimensions, against the CPU's.
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/backends/cuda/driver/emulated_calls.h>
#include <keyway/tests/catch.h>

#include <string>
#include <string_view>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr const char* kRun = "cufftExec";
constexpr const char* kPlan = "cufftMakePlanMany64";

std::string cufft_state() {
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUFFT");
  return wish == nullptr ? "" : wish;
}
bool has_cufft() { return !lacks_device() && cufft_state().empty(); }
bool captures_cufft() { return has_cufft() && keeps_memory(); }

Tensor numbers(IntArrayRef sizes, ScalarType dtype = kComplexDouble, std::int64_t seed = 0) {
  const ScalarType real = dtype == kComplexDouble ? kDouble : kFloat;
  return view_as_complex(
      stack({scattered(sizes, -9, 9, seed).to(real), scattered(sizes, -9, 9, seed + 1).to(real)}, -1));
}

bool is_close_complex(const Tensor& there, const Tensor& here) {
  if (there.dtype() != here.dtype()) return false;
  const double tolerance = here.dtype() == kComplexDouble ? 1e-11 : 1e-4;
  return is_close(view_as_real(there.to(kCPU, there.dtype())), view_as_real(here), tolerance);
}

// One call of the library, for a plan of its own.
void make_plan(std::int64_t n) { (void)_fft_c2c(on_cuda(numbers({n})), {0}, 0, true); }

}  // namespace

TEST_CASE("Fourier transforms over any dimensions, scaled or not, forward and back, are the CPU's") {
  if (!has_cufft()) return;
  struct Case {
    Sizes sizes, dims;
    std::int64_t calls;
  };
  const std::vector<Case> cases{{{8}, {0}, 1},
                                {{3, 5}, {1}, 1},
                                {{3, 5}, {0}, 1},
                                {{3, 5}, {1, 0}, 1},
                                {{2, 3, 4}, {-1, 0}, 1},
                                {{2, 3, 4}, {2, 1, 0}, 1},
                                {{2, 3, 2, 5}, {0, 1, 2, 3}, 2},
                                {{2, 3, 2, 5}, {0, 2}, 1},
                                {{3, 1, 4}, {1, 2}, 1},
                                {{1, 2}, {0}, 0},
                                {{2, 3}, {}, 0},
                                {{}, {}, 0},
                                {{0, 3}, {1}, 0}};
  for (const ScalarType dtype : {kComplexFloat, kComplexDouble}) {
    for (const auto& [sizes, dims, calls] : cases) {
      const Tensor x = numbers(sizes, dtype), there = on_cuda(x);
      for (std::int64_t normalization = 0; normalization < 3; ++normalization) {
        for (const bool forward : {true, false}) {
          const Tensor here = _fft_c2c(x, dims, normalization, forward);
          check_calls({{kRun, calls}},
                      [&] { CHECK(is_close_complex(_fft_c2c(there, dims, normalization, forward), here)); });
        }
      }
      CHECK(same_values(there, x));
    }
  }
}

TEST_CASE("a plan of cuFFT is made once for a problem, in both directions and from whatever strides") {
  if (!has_cufft()) return;
  const Tensor x = numbers({2, 3, 7}), turned = numbers({7, 3, 2}).permute({2, 1, 0});
  Tensor memory = on_cuda(numbers({1 + x.numel()}));
  const Tensor odd = memory.slice(0, 1).view(x.sizes());
  Tensor target = on_cuda(numbers({7, 2, 3})).permute({1, 2, 0});
  for (const std::int64_t made : {1, 0}) {
    check_calls({{kPlan, made}, {kRun, 5}}, [&] {
      for (const bool forward : {true, false}) {
        CHECK(is_close_complex(_fft_c2c(on_cuda(x), {1, 2}, 1, forward), _fft_c2c(x, {1, 2}, 1, forward)));
      }
      CHECK(is_close_complex(_fft_c2c(on_cuda(turned), {2, 1}, 0, true), _fft_c2c(turned, {2, 1}, 0, true)));
      Tensor(odd).copy_(x);
      CHECK(is_close_complex(_fft_c2c(odd, {1, 2}, 2, true), _fft_c2c(x, {1, 2}, 2, true)));
      _fft_c2c_out(target, on_cuda(x), {2, 1}, 2, false);
      CHECK(is_close_complex(target, _fft_c2c(x, {2, 1}, 2, false)));
    });
  }
  const Tensor row = numbers({1, 5});
  CHECK(is_close_complex(_fft_c2c(on_cuda(row).expand({4, 5}), {0, 1}, 0, true),
                         _fft_c2c(row.expand({4, 5}), {0, 1}, 0, true)));
}

TEST_CASE("transforms of real numbers, and gradients through them, are the CPU's") {
  if (!has_cufft()) return;
  const Tensor x = scattered({3, 6}, -9, 9).to(kDouble), weight = scattered({3, 6}, -9, 9, 7).to(kDouble);
  const auto run = [](const Tensor& given, const Tensor& by) {
    Tensor leaf = given.detach().requires_grad_();
    const Tensor half = _fft_r2c(leaf, {0, 1}, 1, true);
    const Tensor back = _fft_c2r(half * half, {0, 1}, 2, 6);
    (back * by).sum().backward();
    return std::pair(back.detach(), leaf.grad());
  };
  const auto [here, here_grad] = run(x, weight);
  const auto [there, there_grad] = run(on_cuda(x), on_cuda(weight));
  CHECK(is_close(there, here, 1e-11));
  CHECK(is_close(there_grad, here_grad, 1e-11));
}

TEST_CASE("Fourier transforms in streams, and on the second device, follow what is computed before them") {
  if (!has_cufft()) return;
  const Tensor x = numbers({4, 6}), twice = _fft_c2c(_fft_c2c(x, {1}, 0, true) * 2, {0}, 0, true);
  for (int device = 0; device < device_count(kCUDA) && device < 2; ++device) {
    const Device on(kCUDA, static_cast<std::int8_t>(device));
    const DeviceGuard guard(on);
    const StreamGuard stream(new_stream(kCUDA));
    const Tensor there = _fft_c2c(x.to(on, x.dtype()), {1}, 0, true);
    CHECK(is_close_complex(_fft_c2c(there * 2, {0}, 0, true), twice));
  }
}

TEST_CASE("as many plans of cuFFT are kept as were asked last, and those of graphs, which replay them") {
  if (!captures_cufft()) return;
  constexpr std::int64_t kMost = 128, kFirst = 2;
  for (std::int64_t n = kFirst; n < kFirst + kMost; ++n) make_plan(n);
  check_calls({{kPlan, 1}, {"cufftDestroy", 1}}, [&] {
    for (std::int64_t n = kFirst; n < kFirst + 4; ++n) make_plan(n);
    const Tensor row = numbers({2, 3});  // of a batch: another problem
    CHECK(is_close_complex(_fft_c2c(on_cuda(row), {1}, 0, true), _fft_c2c(row, {1}, 0, true)));
  });
  const Tensor x = on_cuda(numbers({3, 4}));
  Tensor out;
  CUDAGraph graph;
  {
    CUDAGraphCapture scope(graph);
    out = _fft_c2c(x, {0, 1}, 0, true);
    scope.end();
  }
  check_calls({{kPlan, kMost}, {"cufftDestroy", kMost - 1}}, [&] {
    for (std::int64_t n = 200; n < 200 + kMost; ++n) make_plan(n);
  });
  for (std::int64_t seed = 3; seed < 5; ++seed) {
    const Tensor next = numbers({3, 4}, kComplexDouble, seed);
    Tensor(x).copy_(next);
    graph.replay();
    CHECK(is_close_complex(out, _fft_c2c(next, {0, 1}, 0, true)));
  }
}

TEST_CASE("a Fourier transform without cuFFT says what is missing") {
  if (lacks_device() || cufft_state() != "missing") return;
  const Tensor x = on_cuda(numbers({4}));
  for (int i = 0; i < 2; ++i) {
    const std::string text = error_of([&] { (void)_fft_c2c(x, {0}, 0, true); });
    INFO(text);
    CHECK(text.find("_fft_c2c: Fourier transforms on CUDA need cuFFT 12: libcufft.so.12") != std::string::npos);
    CHECK(text.find("LD_LIBRARY_PATH") != std::string::npos);
  }
}

TEST_CASE("a Fourier transform that cuFFT fails in is an error with its status and the operator") {
  if (lacks_device() || cufft_state() != "broken") return;
  const std::string text = error_of([] { (void)_fft_c2c(on_cuda(numbers({4}, kComplexFloat)), {0}, 0, true); });
  INFO(text);
  CHECK(text.starts_with("_fft_c2c: cuFFT: status 6 in cufftExecC2C"));
}
