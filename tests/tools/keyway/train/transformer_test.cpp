#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>
#include <keyway/tools/keyway/train/transformer.h>

#include <cmath>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::largest_difference;
using keyway::testing::values_of;

namespace {

tools::TransformerOptions small() {
  tools::TransformerOptions options;
  options.alphabet = 5;
  options.context = 8;
  options.width = 12;
  options.layers = 2;
  options.heads = 3;
  options.dropout = 0;
  return options;
}

std::vector<std::uint8_t> some_text(std::size_t size) {
  std::vector<std::uint8_t> text;
  for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<std::uint8_t>((i * i + i / 3) % 5));
  return text;
}

}  // namespace

TEST_CASE("a prediction depends on the characters before it and on no later one") {
  manual_seed(1);
  tools::Transformer model(small());
  auto text = some_text(8);
  const auto before = values_of(model(tools::to_tensor(text, 8)));
  text[5] = static_cast<std::uint8_t>((text[5] + 1) % 5);
  const auto after = values_of(model(tools::to_tensor(text, 8)));
  REQUIRE(before.size() == 40);
  for (std::size_t i = 0; i < 25; ++i) CHECK(before[i] == Approx(after[i]).margin(1e-6));
  CHECK(largest_difference({before.begin() + 25, before.end()}, {after.begin() + 25, after.end()}) > 1e-4);
}

TEST_CASE("attention is a causal mean of values, weighted by softmax") {
  auto options = small();
  options.heads = 2;
  options.width = 4;
  manual_seed(2);
  tools::Attention attention(options);
  attention->to(kDouble);
  const Tensor x = testing::some_tensor({1, 3, 4});
  const auto state = attention->state_dict();
  const auto in = values_of(x), w = values_of(state["to_heads.weight"]), b = values_of(state["to_heads.bias"]);
  const auto feature = [&](int time, int which, int head, int d) {
    const int row = which * 4 + head * 2 + d;
    double sum = b[row];
    for (int i = 0; i < 4; ++i) sum += in[time * 4 + i] * w[row * 4 + i];
    return sum;
  };
  std::vector<double> seen(12);
  for (int head = 0; head < 2; ++head) {
    for (int t = 0; t < 3; ++t) {
      double total = 0;
      std::vector<double> weights;
      for (int s = 0; s <= t; ++s) {
        double score = 0;
        for (int d = 0; d < 2; ++d) score += feature(t, 0, head, d) * feature(s, 1, head, d);
        weights.push_back(std::exp(score / std::sqrt(2.0)));
        total += weights.back();
      }
      for (int d = 0; d < 2; ++d) {
        for (int s = 0; s <= t; ++s) seen[t * 4 + head * 2 + d] += weights[s] / total * feature(s, 2, head, d);
      }
    }
  }
  const auto out = values_of(state["from_heads.weight"]), bias = values_of(state["from_heads.bias"]);
  std::vector<double> expected;
  for (int t = 0; t < 3; ++t) {
    for (int o = 0; o < 4; ++o) {
      double sum = bias[o];
      for (int i = 0; i < 4; ++i) sum += seen[t * 4 + i] * out[o * 4 + i];
      expected.push_back(sum);
    }
  }
  CHECK(largest_difference(values_of(attention(x)), expected) < 1e-12);
}

TEST_CASE("every parameter gets a gradient") {
  manual_seed(1);
  for (const bool tied : {true, false}) {
    auto options = small();
    options.tied_head = tied;
    tools::Transformer model(options);
    model(tools::to_tensor(some_text(16), 8)).log_softmax(-1).select(-1, 0).sum().backward();
    for (const auto& [name, parameter] : model->named_parameters()) {
      INFO(name);
      REQUIRE(parameter.grad().defined());
      CHECK(parameter.grad().abs().sum().item<double>() > 0);
    }
  }
}

TEST_CASE("a fresh model's held-out loss is near that of guessing, and evaluation changes nothing") {
  std::string text;
  for (const std::uint8_t c : some_text(3000)) text += static_cast<char>('a' + c);
  const tools::Corpus corpus(text, 0.1);
  manual_seed(1);
  tools::Transformer model(small());
  const double loss = tools::held_out_loss(model, corpus);
  CHECK(loss == Approx(std::log(5.0)).margin(0.1));
  CHECK(tools::held_out_loss(model, corpus) == loss);
  CHECK(model->is_training());
  CHECK(tools::held_out_loss(model, corpus, 10) == Approx(loss).margin(0.1));
}

TEST_CASE("generated characters go on from a prompt, the same for the same seed") {
  manual_seed(1);
  tools::Transformer model(small());
  const auto draw = [&](std::uint64_t seed) {
    manual_seed(seed);
    return tools::generate(model, {1, 2}, 20, 1.0);
  };
  const auto text = draw(7);
  REQUIRE(text.size() == 20);
  for (const std::uint8_t c : text) CHECK(c < 5);
  CHECK(draw(7) == text);
  CHECK(draw(8) != text);
}

TEST_CASE("sizes that do not fit are refused") {
  auto options = small();
  options.heads = 5;
  CHECK(error_of([&] { tools::Transformer model(options); }) == "5 heads do not divide a width of 12");
  tools::Transformer model(small());
  CHECK(error_of([&] { model(tools::to_tensor(some_text(9), 9)); }) == "9 characters do not fit into a context of 8");
}
