// Convolutions of every number of dimensions: against loops, against the adjoint, against a border made by hand.
#include <keyway/nn/modules/conv.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::exact;
using keyway::testing::largest_difference;
using keyway::testing::some_tensor;
using keyway::testing::values_of;

namespace {

double product_of(const Tensor& a, const Tensor& b) { return (a * b).sum().item<double>(); }

// With the weight of a convolution and no biases, a transposed one is its adjoint: <conv(x), y> = <x, transposed(y)>.
template <typename Conv, typename Transposed>
void check_adjoint(const Conv& conv, const Transposed& transposed, const Tensor& x) {
  const NoGradGuard no_grad;
  transposed->weight.copy_(conv->weight);
  const Tensor forward = conv(x), y = some_tensor(forward.sizes(), 5);
  const std::vector<std::int64_t> size = x.sizes().slice(2).vec();
  CHECK(product_of(forward, y) == Approx(product_of(x, transposed(y, size))).epsilon(1e-12));
}

}  // namespace

TEST_CASE("Conv1d is a cross-correlation of each group of channels") {
  const auto layer = exact(nn::Conv1d(nn::Conv1dOptions(4, 2, 3).groups(2).dilation(2).stride(2).padding(1)));
  const Tensor x = some_tensor({2, 4, 9});
  const auto in = values_of(x), w = values_of(layer->weight), b = values_of(layer->bias);
  const Tensor y = layer(x);
  REQUIRE(y.sizes() == IntArrayRef({2, 2, 4}));
  std::vector<double> expected;
  for (int sample = 0; sample < 2; ++sample) {
    for (int out = 0; out < 2; ++out) {
      for (int at = 0; at < 4; ++at) {
        double sum = b[out];
        for (int c = 0; c < 2; ++c) {
          for (int i = 0; i < 3; ++i) {
            const int from = at * 2 - 1 + i * 2;
            if (from >= 0 && from < 9) sum += in[(sample * 4 + out * 2 + c) * 9 + from] * w[(out * 2 + c) * 3 + i];
          }
        }
        expected.push_back(sum);
      }
    }
  }
  CHECK(largest_difference(values_of(y), expected) < 1e-13);
  CHECK(layer(x.select(0, 1)).sizes() == IntArrayRef({2, 4}));
}

TEST_CASE("transposed convolutions are the adjoints of convolutions, of every number of dimensions") {
  check_adjoint(exact(nn::Conv1d(nn::Conv1dOptions(2, 3, 3).stride(2).padding(1).bias(false))),
                exact(nn::ConvTranspose1d(nn::ConvTranspose1dOptions(3, 2, 3).stride(2).padding(1).bias(false))),
                some_tensor({2, 2, 8}));
  check_adjoint(
      exact(nn::Conv2d(nn::Conv2dOptions(4, 2, {3, 2}).stride({2, 1}).groups(2).bias(false))),
      exact(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 4, {3, 2}).stride({2, 1}).groups(2).bias(false))),
      some_tensor({1, 4, 6, 5}));
  check_adjoint(exact(nn::Conv3d(nn::Conv3dOptions(2, 2, 2).stride(2).dilation(2).bias(false))),
                exact(nn::ConvTranspose3d(nn::ConvTranspose3dOptions(2, 2, 2).stride(2).dilation(2).bias(false))),
                some_tensor({1, 2, 5, 6, 5}));
}

TEST_CASE("a transposed convolution makes what size a stride allows") {
  const nn::ConvTranspose1d layer(nn::ConvTranspose1dOptions(1, 1, 3).stride(2));
  const Tensor x = some_tensor({1, 1, 4}, 1, kFloat);
  CHECK(layer(x).size(2) == 9);
  CHECK(layer(x, std::vector<std::int64_t>{10}).size(2) == 10);
  CHECK(error_of([&] { layer(x, std::vector<std::int64_t>{11}); }) ==
        "ConvTranspose1d: output_size[0] is 11, but must be in [9, 11)");
}

TEST_CASE("a border is made as padding_mode says") {
  const Tensor x = some_tensor({1, 2, 5, 4});
  for (const char* mode : {"reflect", "replicate", "circular"}) {
    const auto layer = exact(nn::Conv2d(nn::Conv2dOptions(2, 2, 3).padding({2, 1}).padding_mode(mode)));
    const Tensor border = pad(x, {1, 1, 2, 2}, mode);
    CHECK(values_of(layer(x)) == values_of(conv2d(border, layer->weight, layer->bias)));
  }
  CHECK(error_of([] { nn::Conv2d(nn::Conv2dOptions(2, 2, 3).padding_mode("mirror")); }) ==
        "Conv2d: padding_mode is 'mirror', but must be 'zeros', 'reflect', 'replicate' or 'circular'");
}

TEST_CASE("a convolution is printed with its sizes") {
  std::ostringstream text;
  text << nn::Conv1d(2, 3, 5) << nn::ConvTranspose3d(nn::ConvTranspose3dOptions(1, 2, {1, 2, 3}));
  CHECK(text.str() ==
        "Conv1d(2, 3, kernel_size=[5], stride=[1], padding=[0])"
        "ConvTranspose3d(1, 2, kernel_size=[1, 2, 3], stride=[1, 1, 1], padding=[0, 0, 0])");
}

TEST_CASE("what size a transposed convolution makes is bounded by its stride, and given for its dimensions or all") {
  const nn::ConvTranspose1d layer(nn::ConvTranspose1dOptions(1, 1, 3).stride(2).dilation(3));
  const Tensor x = some_tensor({1, 1, 4}, 1, kFloat);
  CHECK(layer(x, std::vector<std::int64_t>{1, 1, 14}).size(2) == 14);
  CHECK(error_of([&] { layer(x, std::vector<std::int64_t>{15}); }) ==
        "ConvTranspose1d: output_size[0] is 15, but must be in [13, 15)");
  CHECK(error_of([&] {
          layer(x, std::vector<std::int64_t>{1, 14});
        }) == "ConvTranspose1d: output_size has 2 sizes, but must have 1 or 3");
}
