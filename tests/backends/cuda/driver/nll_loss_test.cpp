// nll_loss and its gradient on CUDA, over more rows than a block has, strides, and targets that are refused.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr std::int64_t kIgnored = -100;

struct Case {
  Tensor x, target, weight;
};

Case make_case(std::int64_t rows, std::int64_t classes, ScalarType dtype, bool weighted) {
  Case c;
  c.x = randn({rows, classes}, TensorOptions()).to(kCPU, dtype);
  c.target = randint(0, classes, {rows}, TensorOptions().dtype(kLong));
  for (std::int64_t i = 0; i < rows; i += 5) c.target.data_ptr<std::int64_t>()[i] = kIgnored;
  if (weighted) c.weight = (rand({classes}, TensorOptions()) + 0.5).to(kCPU, dtype);
  return c;
}

void compare(const Tensor& x, const Tensor& target, const Tensor& weight, std::int64_t reduction) {
  const double tolerance = tolerance_of(x.dtype());
  const auto [loss, total] = nll_loss_forward(x, target, weight, reduction, kIgnored);
  const auto [loss_there, total_there] =
      nll_loss_forward(on_cuda(x), on_cuda(target), on_cuda(weight), reduction, kIgnored);
  CHECK(is_close(loss_there, loss, tolerance));
  CHECK(is_close(total_there, total, tolerance));
  const Tensor grad = randn(loss.sizes(), TensorOptions()).to(kCPU, x.dtype());
  const Tensor slope = nll_loss_backward(grad, x, target, weight, reduction, kIgnored, total);
  CHECK(same_bits(nll_loss_backward(on_cuda(grad), on_cuda(x), on_cuda(target), on_cuda(weight), reduction, kIgnored,
                                    on_cuda(total)),
                  slope));
}

}  // namespace

TEST_CASE("CUDA's nll_loss is the CPU's for each reduction, with and without weights, in any layout") {
  if (lacks_device()) return;
  manual_seed(3);
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (const std::int64_t rows : {1, 700, 9000}) {
      for (const std::int64_t reduction : {0, 1, 2}) {
        INFO(to_string(dtype) << ", " << rows << " rows, reduction " << reduction);
        const Case c = make_case(rows, 7, dtype, reduction != 1);
        compare(c.x, c.target, c.weight, reduction);
        compare(c.x.transpose(0, 1).contiguous().transpose(0, 1), c.target, c.weight, reduction);
      }
    }
  }
}

TEST_CASE("a target that is no class is an error of the next synchronisation, of both directions") {
  if (lacks_device()) return;
  const Device device("cuda:0");
  for (const std::int64_t bad : {std::int64_t{7}, std::int64_t{-1}}) {
    const Case c = make_case(600, 7, kFloat, false);
    c.target.data_ptr<std::int64_t>()[599] = bad;
    const Tensor x = on_cuda(c.x), target = on_cuda(c.target), one = on_cuda(full({}, 1.0, TensorOptions()));
    for (const std::int64_t reduction : {0, 1}) {
      (void)nll_loss_forward(x, target, {}, reduction, kIgnored);
      CHECK(error_of([&] { synchronize(device); }).find("nll_loss_forward: argument 'target' has") !=
            std::string::npos);
    }
    (void)nll_loss_backward(one, x, target, {}, 2, kIgnored, one);
    CHECK(error_of([&] { synchronize(device); }).find("nll_loss_backward: argument 'target' has") != std::string::npos);
    synchronize(device);
  }
}

TEST_CASE("on CUDA the mean of no losses is NaN, and their sum 0") {
  if (lacks_device()) return;
  const Tensor x = on_cuda(zeros({0, 3}, TensorOptions())), target = on_cuda(zeros({0}, TensorOptions().dtype(kLong)));
  CHECK(std::isnan(std::get<0>(nll_loss_forward(x, target, {}, 1, kIgnored)).item().to<double>()));
  CHECK(std::get<0>(nll_loss_forward(x, target, {}, 2, kIgnored)).item().to<double>() == 0);
}
