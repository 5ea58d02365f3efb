// Every layer against its formula, written here with loops over doubles.
#include <keyway/nn/modules/activation.h>
#include <keyway/nn/modules/conv.h>
#include <keyway/nn/modules/dropout.h>
#include <keyway/nn/modules/embedding.h>
#include <keyway/nn/modules/layer_norm.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/modules/sequential.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::exact;
using keyway::testing::largest_difference;
using keyway::testing::some_tensor;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

TEST_CASE("Linear is x W^T + b") {
  const auto layer = exact(nn::Linear(3, 2));
  const Tensor x = some_tensor({4, 3});
  const auto w = values_of(layer->weight), b = values_of(layer->bias), in = values_of(x);
  std::vector<double> expected;
  for (int row = 0; row < 4; ++row) {
    for (int out = 0; out < 2; ++out) {
      double sum = b[out];
      for (int i = 0; i < 3; ++i) sum += in[row * 3 + i] * w[out * 3 + i];
      expected.push_back(sum);
    }
  }
  CHECK(largest_difference(values_of(layer(x)), expected) < 1e-14);
  CHECK(layer(some_tensor({2, 5, 3})).sizes() == IntArrayRef({2, 5, 2}));
  for (const double value : w) CHECK(std::abs(value) <= 1 / std::sqrt(3.0));
  CHECK(!nn::Linear(nn::LinearOptions(3, 2).bias(false))->bias.defined());
}

TEST_CASE("Embedding looks rows up, and its padding row gets no gradient") {
  const nn::Embedding table(nn::EmbeddingOptions(4, 2).padding_idx(-4));
  CHECK(table->options.padding_idx() == 0);
  CHECK(values_of(table->weight.select(0, 0)) == std::vector<double>{0, 0});
  const Tensor indices = tensor_of({3, 0, 3}, {3}, kLong);
  const Tensor rows = table(indices);
  CHECK(values_of(rows.select(0, 0)) == values_of(table->weight.select(0, 3)));
  rows.sum().backward();
  CHECK(values_of(table->weight.grad()) == std::vector<double>{0, 0, 0, 0, 0, 0, 2, 2});
  CHECK(error_of([] { nn::Embedding(nn::EmbeddingOptions(4, 2).padding_idx(4)); }) ==
        "Embedding: padding_idx is 4, but there are 4 embeddings");
}

TEST_CASE("LayerNorm brings each row to mean 0 and variance 1, then scales and shifts") {
  const auto layer = exact(nn::LayerNorm(nn::LayerNormOptions({5}).eps(1e-3)));
  nn::StateDict state;
  state.insert("weight", some_tensor({5}, 7));
  state.insert("bias", some_tensor({5}, 8));
  layer->load_state_dict(state);
  const Tensor x = some_tensor({3, 5});
  const auto in = values_of(x), w = values_of(layer->weight), b = values_of(layer->bias);
  std::vector<double> expected;
  for (int row = 0; row < 3; ++row) {
    double mean = 0, variance = 0;
    for (int i = 0; i < 5; ++i) mean += in[row * 5 + i] / 5;
    for (int i = 0; i < 5; ++i) variance += (in[row * 5 + i] - mean) * (in[row * 5 + i] - mean) / 5;
    for (int i = 0; i < 5; ++i) expected.push_back((in[row * 5 + i] - mean) / std::sqrt(variance + 1e-3) * w[i] + b[i]);
  }
  CHECK(largest_difference(values_of(layer(x)), expected) < 1e-13);
  CHECK(nn::LayerNorm(nn::LayerNormOptions({5}).elementwise_affine(false))->parameters().empty());
}

TEST_CASE("Dropout scales what it keeps while training, and does nothing otherwise") {
  const nn::Dropout drop(0.25);
  const Tensor ones = keyway::ones({10000});
  manual_seed(1);
  std::size_t kept = 0;
  for (const double value : values_of(drop(ones))) {
    CHECK((value == 0 || value == Approx(1 / 0.75)));
    kept += value != 0;
  }
  CHECK(static_cast<double>(kept) == Approx(7500).margin(200));
  drop->eval();
  CHECK(values_of(drop(ones)) == std::vector<double>(10000, 1));
  CHECK(error_of([] { nn::Dropout(1.5); }) == "Dropout: p is a probability, but is 1.5");
}

TEST_CASE("Conv2d is a cross-correlation with stride and padding") {
  const auto layer = exact(nn::Conv2d(nn::Conv2dOptions(2, 3, {3, 2}).stride({2, 1}).padding({1, 0})));
  const Tensor x = some_tensor({1, 2, 5, 4});
  const auto in = values_of(x), w = values_of(layer->weight), b = values_of(layer->bias);
  const Tensor y = layer(x);
  REQUIRE(y.sizes() == IntArrayRef({1, 3, 3, 3}));
  std::vector<double> expected;
  for (int out = 0; out < 3; ++out) {
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        double sum = b[out];
        for (int c = 0; c < 2; ++c) {
          for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 2; ++j) {
              const int r = row * 2 - 1 + i;
              if (r >= 0 && r < 5) sum += in[(c * 5 + r) * 4 + column + j] * w[((out * 2 + c) * 3 + i) * 2 + j];
            }
          }
        }
        expected.push_back(sum);
      }
    }
  }
  CHECK(largest_difference(values_of(y), expected) < 1e-13);
  CHECK(error_of([] { nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)); }) ==
        "Conv2d: 2 groups do not divide 3 input and 4 output channels");
}

TEST_CASE("Sequential calls one module behind the other and names them") {
  nn::Sequential mlp(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
  mlp->push_back("last", nn::Tanh());
  CHECK(mlp->named_parameters().keys() == std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"});
  CHECK(mlp->size() == 4);
  const Tensor x = some_tensor({5, 3}, 1, kFloat);
  const Tensor hidden = relu(mlp->at<nn::LinearImpl>(0).forward(x));
  CHECK(values_of(mlp(x)) == values_of(tanh(mlp->at<nn::LinearImpl>(2).forward(hidden))));
  CHECK(error_of([&] { mlp->at<nn::LinearImpl>(1); }).find("ReLUImpl") != std::string::npos);
  CHECK(error_of([] { nn::Sequential()->forward({}); }) == "Sequential has no modules");
}

TEST_CASE("gradients flow through a stack of layers") {
  const auto mlp = exact(nn::Sequential(nn::Linear(3, 4), nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({4})),
                                        nn::SiLU(), nn::Linear(4, 1)));
  const Tensor x = some_tensor({5, 3});
  mlp(x).sum().backward();
  constexpr double kStep = 1e-6;
  for (const auto& [name, parameter] : mlp->named_parameters()) {
    INFO(name);
    REQUIRE(parameter.grad().defined());
    double* element = parameter.data_ptr<double>();
    const double before = *element;
    const auto sum_at = [&](double value) {
      *element = value;
      return mlp(x).sum().item<double>();
    };
    const double slope = (sum_at(before + kStep) - sum_at(before - kStep)) / (2 * kStep);
    *element = before;
    CHECK(values_of(parameter.grad())[0] == Approx(slope).margin(1e-7));
  }
}

TEST_CASE("the bias of a Linear without inputs begins as zeros") {
  CHECK(values_of(nn::Linear(0, 5)->bias) == std::vector<double>(5, 0));
}
