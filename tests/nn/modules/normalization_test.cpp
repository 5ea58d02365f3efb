// Normalising layers against their formulas, written here with loops over doubles.
#include <keyway/nn/functional.h>
#include <keyway/nn/modules/batch_norm.h>
#include <keyway/nn/modules/group_norm.h>
#include <keyway/nn/modules/rms_norm.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::largest_difference;
using keyway::testing::some_tensor;
using keyway::testing::values_of;

namespace {

// A layer of doubles, whose weight and bias are some numbers.
template <typename Holder>
Holder scaled(Holder holder) {
  holder->to(kDouble);
  const NoGradGuard no_grad;
  std::uint64_t seed = 7;
  for (const Tensor& parameter : holder->parameters()) parameter.copy_(some_tensor(parameter.sizes(), seed++));
  return holder;
}

struct Spread {
  double mean, variance;
};
Spread spread_of(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / static_cast<double>(values.size())};
}

// Of an input [n, channels, positions]: the elements of a channel, of one sample or of all.
std::vector<double> channel_of(const Tensor& x, std::int64_t c, std::int64_t sample = -1) {
  const Tensor channel = x.select(1, c);
  return values_of(sample < 0 ? channel : channel.select(0, sample));
}

}  // namespace

TEST_CASE("BatchNorm normalises each channel over a batch, and keeps running statistics") {
  const auto layer = scaled(nn::BatchNorm1d(nn::BatchNormOptions(3).eps(1e-3).momentum(0.25)));
  const Tensor x = some_tensor({4, 3, 5});
  const auto w = values_of(layer->weight), b = values_of(layer->bias);
  const Tensor y = layer(x);
  for (std::int64_t c = 0; c < 3; ++c) {
    const auto in = channel_of(x, c);
    const Spread spread = spread_of(in);
    std::vector<double> expected;
    for (const double value : in)
      expected.push_back((value - spread.mean) / std::sqrt(spread.variance + 1e-3) * w[c] + b[c]);
    CHECK(largest_difference(channel_of(y, c), expected) < 1e-12);
    CHECK(values_of(layer->running_mean)[c] == Approx(0.25 * spread.mean));
    CHECK(values_of(layer->running_var)[c] == Approx(0.75 + 0.25 * spread.variance * 20 / 19));
  }
  CHECK(layer->num_batches_tracked.item<std::int64_t>() == 1);

  layer->eval();
  const auto mean = values_of(layer->running_mean), variance = values_of(layer->running_var);
  std::vector<double> expected;
  for (const double value : channel_of(x, 2)) {
    expected.push_back((value - mean[2]) / std::sqrt(variance[2] + 1e-3) * w[2] + b[2]);
  }
  CHECK(largest_difference(channel_of(layer(x), 2), expected) < 1e-12);
  CHECK(layer->num_batches_tracked.item<std::int64_t>() == 1);
}

TEST_CASE("BatchNorm without a momentum keeps the mean of all batches") {
  const auto layer = scaled(nn::BatchNorm2d(nn::BatchNormOptions(2).momentum(std::nullopt)));
  double sum = 0;
  for (std::uint64_t batch = 1; batch <= 3; ++batch) {
    const Tensor x = some_tensor({2, 2, 3, 3}, batch);
    layer(x);
    sum += spread_of(channel_of(x, 1)).mean;
  }
  CHECK(values_of(layer->running_mean)[1] == Approx(sum / 3));
  layer->reset_running_stats();
  CHECK(values_of(layer->running_mean) == std::vector<double>{0, 0});
  CHECK(layer->num_batches_tracked.item<std::int64_t>() == 0);
}

TEST_CASE("BatchNorm has the parts that its options ask for, and says what it refuses") {
  const nn::BatchNorm3d layer(nn::BatchNormOptions(2).affine(false).track_running_stats(false));
  CHECK(layer->parameters().empty());
  CHECK(layer->buffers().empty());
  layer->eval();
  const Tensor x = some_tensor({2, 2, 1, 2, 3}, 1, kFloat);
  CHECK(std::abs(layer(x).mean().item<double>()) < 1e-6);
  CHECK(error_of([&] { layer(x.select(0, 0)); }) == "BatchNorm3d: an input has 5 dimensions, not 4");
  const nn::BatchNorm1d flat(2);
  CHECK(flat->named_buffers().keys() == std::vector<std::string>{"running_mean", "running_var", "num_batches_tracked"});
  CHECK(error_of([&] {
          flat(keyway::ones({1, 2}));
        }) == "training needs more than 1 value per channel, but the input has shape [1, 2]");
  CHECK(error_of([&] { flat(keyway::ones({2})); }) == "BatchNorm1d: an input has 2 or 3 dimensions, not 1");
  CHECK(error_of([&] { nn::functional::batch_norm(x, {}, {}); }) ==
        "running_mean and running_var are needed when not training");
  std::ostringstream text;
  text << flat;
  CHECK(text.str() == "BatchNorm1d(2, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
}

TEST_CASE("InstanceNorm normalises each channel of each sample") {
  const auto layer =
      scaled(nn::InstanceNorm1d(nn::InstanceNormOptions(2).affine(true).track_running_stats(true).momentum(0.5)));
  const Tensor x = some_tensor({3, 2, 4});
  const auto w = values_of(layer->weight), b = values_of(layer->bias);
  const Tensor y = layer(x);
  double means = 0;
  for (std::int64_t sample = 0; sample < 3; ++sample) {
    const auto in = channel_of(x, 1, sample);
    const Spread spread = spread_of(in);
    means += spread.mean / 3;
    std::vector<double> expected;
    for (const double value : in)
      expected.push_back((value - spread.mean) / std::sqrt(spread.variance + 1e-5) * w[1] + b[1]);
    CHECK(largest_difference(channel_of(y, 1, sample), expected) < 1e-12);
  }
  CHECK(values_of(layer->running_mean)[1] == Approx(0.5 * means));
  CHECK(largest_difference(values_of(layer(x.select(0, 2))), values_of(y.select(0, 2))) < 1e-12);
  CHECK(nn::InstanceNorm2d(4)->parameters().empty());
  CHECK(nn::InstanceNorm3d(4)->buffers().empty());
}

TEST_CASE("GroupNorm normalises each group of channels of a sample") {
  const auto layer = scaled(nn::GroupNorm(nn::GroupNormOptions(2, 4).eps(1e-2)));
  const Tensor x = some_tensor({2, 4, 3});
  const auto w = values_of(layer->weight), b = values_of(layer->bias);
  const Tensor y = layer(x);
  const auto in = values_of(x.select(0, 1).slice(0, 2, 4));
  const Spread spread = spread_of(in);
  std::vector<double> expected;
  for (std::size_t i = 0; i < in.size(); ++i) {
    expected.push_back((in[i] - spread.mean) / std::sqrt(spread.variance + 1e-2) * w[2 + i / 3] + b[2 + i / 3]);
  }
  CHECK(largest_difference(values_of(y.select(0, 1).slice(0, 2, 4)), expected) < 1e-12);
  CHECK(error_of([] { nn::GroupNorm(3, 4); }) == "GroupNorm: 3 groups do not divide 4 channels");
}

TEST_CASE("RMSNorm divides by the root of the mean square") {
  const auto layer = scaled(nn::RMSNorm(nn::RMSNormOptions({4}).eps(1e-2)));
  const Tensor x = some_tensor({2, 4});
  const auto in = values_of(x), w = values_of(layer->weight);
  std::vector<double> expected;
  for (int row = 0; row < 2; ++row) {
    double squares = 0;
    for (int i = 0; i < 4; ++i) squares += in[row * 4 + i] * in[row * 4 + i] / 4;
    for (int i = 0; i < 4; ++i) expected.push_back(in[row * 4 + i] / std::sqrt(squares + 1e-2) * w[i]);
  }
  CHECK(largest_difference(values_of(layer(x)), expected) < 1e-12);
}
