#include <keyway/nn/init.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <numeric>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::values_of;

namespace {

struct Moments {
  double low, high, mean, variance;
};

Moments moments_of(const Tensor& tensor) {
  const std::vector<double> values = values_of(tensor);
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high, mean, squares / count};
}

}  // namespace

TEST_CASE("constants, uniform and normal values are what they say") {
  Tensor t = keyway::empty({100, 100});
  CHECK(values_of(nn::init::ones_(t)) == std::vector<double>(10000, 1));
  CHECK(values_of(nn::init::zeros_(t)) == std::vector<double>(10000, 0));
  const Moments uniform = moments_of(nn::init::uniform_(t, -2, 4));
  CHECK(uniform.low >= -2);
  CHECK(uniform.high < 4);
  CHECK(uniform.mean == Approx(1).margin(0.1));
  CHECK(uniform.variance == Approx(3).margin(0.2));
  const Moments normal = moments_of(nn::init::normal_(t, 1, 0.5));
  CHECK(normal.mean == Approx(1).margin(0.03));
  CHECK(normal.variance == Approx(0.25).margin(0.02));
}

TEST_CASE("kaiming and xavier bounds follow the fans") {
  Tensor t = keyway::empty({64, 32, 3, 3});
  const nn::init::Fan fan = nn::init::calculate_fan_in_and_fan_out(t);
  CHECK(fan.in == 288);
  CHECK(fan.out == 576);
  // Of the uniform distribution on [-b, b] the variance is b^2 / 3.
  const Moments kaiming = moments_of(nn::init::kaiming_uniform_(t));
  CHECK(kaiming.variance == Approx(2.0 / 288).epsilon(0.05));
  CHECK(kaiming.high <= std::sqrt(6.0 / 288));
  const Moments out = moments_of(nn::init::kaiming_uniform_(t, 0, nn::init::kFanOut, nn::init::Nonlinearity::Linear));
  CHECK(out.variance == Approx(1.0 / 576).epsilon(0.05));
  const Moments xavier = moments_of(nn::init::xavier_uniform_(t, 2));
  CHECK(xavier.variance == Approx(4 * 2.0 / (288 + 576)).epsilon(0.05));
  CHECK(error_of([] { nn::init::xavier_uniform_(keyway::empty({3})); }) ==
        "fan in and fan out need at least 2 dimensions, but the shape is [3]");
}

TEST_CASE("values of a parameter are set without a trace in the graph") {
  const Tensor t = keyway::empty({2, 2}).requires_grad_();
  nn::init::uniform_(t);
  CHECK(t.is_leaf());
  CHECK(t.requires_grad());
}
