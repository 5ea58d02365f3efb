// Pooling against loops, and against the pooling of one dimension less.
#include <keyway/nn/modules/pooling.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::some_tensor;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

TEST_CASE("pooling takes the greatest or the mean of windows") {
  const Tensor x = tensor_of({1, 5, 2, -3, 4, 0, 7}, {1, 1, 7});
  CHECK(values_of(nn::MaxPool1d(3)(x)) == std::vector<double>{5, 4});
  CHECK(values_of(nn::MaxPool1d(nn::MaxPool1dOptions(2).stride(1).dilation(2))(x)) ==
        std::vector<double>{2, 5, 4, 0, 7});
  CHECK(values_of(nn::MaxPool1d(nn::MaxPool1dOptions(3).ceil_mode(true))(x)) == std::vector<double>{5, 4, 7});
  CHECK(values_of(nn::AvgPool1d(nn::AvgPool1dOptions(2).padding(1))(x)) == std::vector<double>{0.5, 3.5, 0.5, 3.5});
  CHECK(values_of(nn::AvgPool1d(nn::AvgPool1dOptions(2).padding(1).count_include_pad(false))(x)) ==
        std::vector<double>{1, 3.5, 0.5, 3.5});
  CHECK(error_of([&] { nn::AvgPool1d(nn::AvgPool1dOptions(2).divisor_override(3))(x); }) ==
        "AvgPool1d: takes no divisor_override");
}

TEST_CASE("pooling of more dimensions is that of each, one after the other") {
  const Tensor x = some_tensor({2, 3, 4, 6, 4});
  const auto rows = [&](const auto& pool) { return pool(x.flatten(0, 2).flatten(1, 2).reshape({24, 6, 4})); };
  const Tensor greatest = nn::MaxPool3d(nn::MaxPool3dOptions({1, 3, 2}))(x);
  CHECK(values_of(greatest) == values_of(rows(nn::MaxPool2d(nn::MaxPool2dOptions({3, 2})))));
  const Tensor mean = nn::AvgPool3d(nn::AvgPool3dOptions({1, 3, 2}).divisor_override(1))(x);
  CHECK(values_of(mean) == values_of(rows(nn::AvgPool2d(nn::AvgPool2dOptions({3, 2}).divisor_override(1)))));
}

TEST_CASE("adaptive pooling makes as many windows as it is asked for") {
  const Tensor x = tensor_of({1, 5, 2, -3, 4, 0}, {1, 6});
  CHECK(values_of(nn::AdaptiveMaxPool1d(3)(x)) == std::vector<double>{5, 2, 4});
  CHECK(values_of(nn::AdaptiveAvgPool1d(2)(x)) == std::vector<double>{8.0 / 3, 1.0 / 3});
  const Tensor images = some_tensor({2, 3, 5, 7});
  CHECK(nn::AdaptiveAvgPool2d(1)(images).sizes() == IntArrayRef({2, 3, 1, 1}));
  CHECK(values_of(nn::AdaptiveMaxPool2d(1)(images)) == values_of(images.amax({2, 3}, true)));
  CHECK(nn::AdaptiveMaxPool3d(nn::AdaptiveMaxPool3dOptions({1, 2, 3}))(images).sizes() == IntArrayRef({2, 1, 2, 3}));
  CHECK(nn::AdaptiveAvgPool3d(nn::AdaptiveAvgPool3dOptions({1, 2, 3}))(images).sizes() == IntArrayRef({2, 1, 2, 3}));
}
