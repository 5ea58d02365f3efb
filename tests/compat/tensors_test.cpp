// Tensors in PyTorch's spelling: options, accessors, memory of others, checks, guards.
#include <keyway/core/base/warning.h>
#include <keyway/tests/catch.h>

#include <ATen/Parallel.h>
#include <ATen/TensorUtils.h>
#include <ATen/ThreadLocalState.h>
#include <atomic>
#include <c10/core/DeviceGuard.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <torch/all.h>
#include <vector>

using keyway::testing::error_of;

TEST_CASE("options, and what a tensor says of itself") {
  const at::Tensor x = torch::zeros({2, 3}, at::TensorOptions().dtype(at::kLong).device(at::kCPU));
  CHECK((x.scalar_type() == torch::kInt64 && x.dtype() == at::kLong && x.is_cpu() && !x.is_cuda()));
  CHECK(
      (x.dim() == 2 && x.size(-1) == 3 && x.numel() == 6 && x.stride(0) == 3 && x.sizes() == at::IntArrayRef({2, 3})));
  const at::Tensor y = torch::ones({4}, x.options().dtype(torch::kFloat64));
  CHECK((y.scalar_type() == at::kDouble && y.device() == x.device()));
  CHECK(at::tensor({1, 2}, torch::kI32).scalar_type() == at::kInt);
  CHECK((c10::DeviceTypeName(x.device().type()) == "CPU" && c10::DeviceTypeName(at::kCUDA, true) == "cuda"));
}

TEST_CASE("an accessor reads and writes through strides") {
  const at::Tensor x = torch::arange(6, torch::kFloat).view({2, 3}).t();
  const auto a = x.accessor<float, 2>();
  CHECK((a.size(0) == 3 && a.stride(0) == 1 && a[2][1] == 5.0F));
  a[0][1] = 9.0F;
  CHECK(x.select(0, 0).select(0, 1).item<float>() == 9.0F);
  CHECK_FALSE(error_of([&] { x.accessor<double, 2>(); }).empty());
  CHECK_FALSE(error_of([&] { x.accessor<float, 3>(); }).empty());
}

TEST_CASE("memory of others is used in place, and given back once") {
  std::vector<double> values{1, 2, 3, 4};
  int freed = 0;
  {
    at::Tensor x = torch::from_blob(
        values.data(), {2, 2}, [&](void*) { ++freed; }, torch::kDouble);
    x.mul_(2);
    const at::Tensor row = x[1];
    x = at::Tensor();
    CHECK((freed == 0 && row.sum().item<double>() == 14.0));
  }
  CHECK((freed == 1 && values == std::vector<double>{2, 4, 6, 8}));
}

TEST_CASE("a check that fails says what was streamed into it") {
  const at::Tensor x = torch::ones({2, 3});
  CHECK(error_of([&] {
          TORCH_CHECK(x.dim() == 1, "x has ", x.dim(), " dimensions: ", x.sizes());
        }).find("x has 2 dimensions: [2, 3]") == 0);
  CHECK_NOTHROW([&] { TORCH_CHECK(x.defined(), "never"); }());
  CHECK_FALSE(error_of([&] { TORCH_CHECK_INDEX(false, "no such index"); }).empty());
  CHECK_FALSE(error_of([&] { TORCH_INTERNAL_ASSERT(x.dim() == 3); }).empty());
  const auto two_checks = [](int number) {
    TORCH_CHECK(number > 0, "first")  // without a semicolon, as some sources have it
    TORCH_CHECK(number > 1, "second")
    return number;
  };
  CHECK((two_checks(2) == 2 && error_of([&] { two_checks(1); }).find("second") == 0));
}

TEST_CASE("guards set and restore") {
  CHECK(at::GradMode::is_enabled());
  {
    const at::NoGradGuard guard;
    CHECK_FALSE(at::GradMode::is_enabled());
    CHECK_FALSE(torch::ones({1}).requires_grad_(true).mul(2).requires_grad());
  }
  CHECK(at::GradMode::is_enabled());
  const at::DeviceGuard device(torch::ones({1}).device());
  CHECK(device.current_device().is_cpu());
}

TEST_CASE("a check of arguments names the function, the argument and the rule, also for an undefined tensor") {
  const at::Tensor self = torch::ones({2, 3}), other = torch::ones({2}, torch::kLong), nothing;
  const at::TensorArg x(self, "self", 1), y(other, "other", 2), z(nothing, "nothing", 3);
  CHECK_NOTHROW(at::checkDim("f", x, 2));
  CHECK_NOTHROW(at::checkSize("f", x, {2, 3}));
  CHECK(error_of([&] { at::checkDim("f", x, 3); }).find("f: argument #1 'self' is to have 3 dimensions") == 0);
  CHECK(error_of([&] { at::checkAllSameType("f", {x, y}); }).find("argument #2 'other'") != std::string::npos);
  CHECK_FALSE(error_of([&] { at::checkSize("f", x, 7, 1); }).empty());
  CHECK_FALSE(error_of([&] { at::checkAllSameGPU("f", {x, y}); }).empty());
  for (const auto check : {at::checkDefined, at::checkContiguous}) CHECK_THROWS_AS(check("f", z), c10::Error);
  CHECK(error_of([&] { at::checkSameNumel("f", x, z); }).find("f: argument #3 'nothing' is undefined") == 0);
  CHECK(error_of([&] { at::checkScalarTypes("f", z, {torch::kFloat}); }).find("is undefined") != std::string::npos);
}

TEST_CASE("at::launch runs a task with the state of its launch, and a warning says what it throws") {
  std::atomic<int> seen{-1};
  {
    const torch::NoGradGuard no_grad;
    at::launch([&] { seen = at::GradMode::is_enabled() ? 1 : 0; });
  }
  while (seen == -1) std::this_thread::yield();
  CHECK(seen == 0);
  std::atomic<bool> warned{false};
  const auto before = keyway::set_warning_handler(
      [&](std::string_view text) { warned = text.find("nobody waits") != std::string_view::npos; });
  at::launch([] { throw std::runtime_error("nobody waits"); });
  while (!warned) std::this_thread::yield();
  keyway::set_warning_handler(before);
  CHECK(at::get_num_interop_threads() >= 1);
}
