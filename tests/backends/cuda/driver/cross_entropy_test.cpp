// Cross entropy of classes and its gradient on CUDA, over rows that threads keep in registers and longer ones, strides,
// and targets that are refused.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr std::int64_t kIgnored = -100;

struct Case {
  Tensor x, target, weight;
};

Case make_case(std::int64_t rows, std::int64_t classes, ScalarType dtype, bool weighted) {
  Case c;
  c.x = (randn({rows, classes}, TensorOptions()) * 3).to(kCPU, dtype);
  c.target = randint(0, classes, {rows}, TensorOptions().dtype(kLong));
  for (std::int64_t i = 0; i < rows; i += 5) c.target.data_ptr<std::int64_t>()[i] = kIgnored;
  if (weighted) c.weight = (rand({classes}, TensorOptions()) + 0.5).to(kCPU, dtype);
  return c;
}

void compare(const Tensor& x, const Tensor& target, const Tensor& weight, std::int64_t reduction) {
  const double tolerance = tolerance_of(x.dtype());
  const auto [loss, total, normalizer] = _cross_entropy_forward(x, target, weight, reduction, kIgnored);
  const auto [loss_there, total_there, normalizer_there] =
      _cross_entropy_forward(on_cuda(x), on_cuda(target), on_cuda(weight), reduction, kIgnored);
  CHECK(is_close(loss_there, loss, tolerance));
  CHECK(is_close(total_there, total, tolerance));
  CHECK(is_close(normalizer_there, normalizer, tolerance));
  const Tensor grad = randn(loss.sizes(), TensorOptions()).to(kCPU, x.dtype());
  const Tensor slope = _cross_entropy_backward(grad, x, target, weight, reduction, kIgnored, total, normalizer);
  CHECK(is_close(_cross_entropy_backward(on_cuda(grad), on_cuda(x), on_cuda(target), on_cuda(weight), reduction,
                                         kIgnored, on_cuda(total), on_cuda(normalizer)),
                 slope, tolerance));
}

}  // namespace

TEST_CASE("CUDA's cross entropy is the CPU's for each reduction, of short rows and long ones, in any layout") {
  if (lacks_device()) return;
  manual_seed(3);
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (const auto& [rows, classes] :
         {std::pair(1, 1), std::pair(700, 7), std::pair(6, 2048), std::pair(6, 5000), std::pair(3, 9001)}) {
      for (const std::int64_t reduction : {0, 1, 2}) {
        INFO(to_string(dtype) << ", " << rows << " rows of " << classes << ", reduction " << reduction);
        const Case c = make_case(rows, classes, dtype, reduction != 1);
        compare(c.x, c.target, c.weight, reduction);
        compare(c.x.transpose(0, 1).contiguous().transpose(0, 1), c.target, c.weight, reduction);
      }
    }
    const Case one = make_case(2, 9, dtype, true);
    compare(one.x.select(0, 1), one.target.select(0, 1), one.weight, 1);
  }
}

TEST_CASE("CUDA's cross entropy of infinities is the CPU's") {
  if (lacks_device()) return;
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::int64_t n : {7, 3000, 9001}) {
    for (const double value : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
      Tensor x = scattered({3, n}, -4, 4).to(kFloat);
      x.select(0, 1).fill_(value);
      x.select(1, n - 1).fill_(value);
      const Tensor target = full({3}, n - 1, TensorOptions().dtype(kLong));
      for (const Tensor& targets : {target, target * 0}) {
        CHECK(is_close(cross_entropy_loss(on_cuda(x), on_cuda(targets), {}, 0), cross_entropy_loss(x, targets, {}, 0),
                       1e-5));
      }
    }
  }
}

TEST_CASE("a target of cross entropy that is no class is an error of the next synchronisation, of both directions") {
  if (lacks_device()) return;
  const Device device("cuda:0");
  for (const std::int64_t bad : {std::int64_t{7}, std::int64_t{-1}}) {
    const Case c = make_case(600, 7, kFloat, false);
    c.target.data_ptr<std::int64_t>()[599] = bad;
    const Tensor x = on_cuda(c.x), target = on_cuda(c.target), one = on_cuda(full({}, 1.0, TensorOptions()));
    Tensor normalizer;
    for (const std::int64_t reduction : {0, 1}) {
      normalizer = std::get<2>(_cross_entropy_forward(x, target, {}, reduction, kIgnored));
      CHECK(error_of([&] { synchronize(device); }).find("_cross_entropy_forward: argument 'target' has") !=
            std::string::npos);
    }
    (void)_cross_entropy_backward(one, x, target, {}, 2, kIgnored, one, normalizer);
    CHECK(error_of([&] { synchronize(device); }).find("_cross_entropy_backward: argument 'target' has") !=
          std::string::npos);
    synchronize(device);
  }
}

TEST_CASE("on CUDA the mean of no cross entropies is NaN, and their sum 0") {
  if (lacks_device()) return;
  const Tensor x = on_cuda(zeros({0, 3}, TensorOptions())), target = on_cuda(zeros({0}, TensorOptions().dtype(kLong)));
  CHECK(std::isnan(cross_entropy_loss(x, target, {}, 1).item().to<double>()));
  CHECK(cross_entropy_loss(x, target, {}, 2).item().to<double>() == 0);
}

TEST_CASE("cross entropy keeps minus infinity of a row that has no greater number, and NaN beside it") {
  if (lacks_device()) return;
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const std::int64_t classes : {2, 9001}) {
    for (const double number : {nan, -inf}) {
      const Tensor x = full({1, classes}, number, TensorOptions().dtype(kFloat)), target = zeros({1}, kLong);
      for (const Tensor& given : {x, on_cuda(x)}) {
        const Tensor to = given.is_cpu() ? target : on_cuda(target);
        const Tensor pair = std::get<2>(_cross_entropy_forward(given, to, std::nullopt, 1, kIgnored)).to(kCPU, kFloat);
        CHECK(pair.view({2}).select(0, 0).item().to<double>() == -inf);
        CHECK(std::isnan(pair.view({2}).select(0, 1).item().to<double>()));
      }
    }
  }
}
