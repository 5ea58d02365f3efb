#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/train/ngram.h>

#include <cmath>
#include <numeric>
#include <random>

using namespace keyway;

namespace {

using Text = std::vector<std::uint8_t>;

Text repeat(const Text& period, std::size_t size) {
  Text text;
  while (text.size() < size) text.push_back(period[text.size() % period.size()]);
  return text;
}

}  // namespace

TEST_CASE("a text that two characters foretell costs nearly nothing") {
  const Text text = repeat({0, 0, 1, 2, 1}, 20000);
  CHECK(tools::Ngram(text, 3).loss(text, 10000) < 0.01);
}

TEST_CASE("a text that needs three characters of history is not foretold") {
  // After "0 0" follows 1 or 2, in turn.
  const Text text = repeat({0, 0, 1, 0, 0, 2}, 20000);
  const double loss = tools::Ngram(text, 3).loss(text, 10000);
  CHECK(loss == Approx(std::log(2.0) / 3).margin(0.01));
}

TEST_CASE("the loss of random characters is their entropy") {
  std::mt19937 random(1);
  Text text;
  for (int i = 0; i < 200000; ++i) text.push_back(static_cast<std::uint8_t>(random() % 4 == 0 ? random() % 3 : 3));
  const double entropy = -(0.75 * std::log(0.75) + 3 * (0.25 / 3) * std::log(0.25 / 3));
  CHECK(tools::Ngram(tools::Characters(text).first(150000), 4).loss(text, 150000) == Approx(entropy).margin(0.01));
}

TEST_CASE("the probabilities of all characters sum up to one but for the text's end, whatever came before") {
  std::mt19937 random(1);
  Text text;
  for (int i = 0; i < 3000; ++i) text.push_back(static_cast<std::uint8_t>(random() % 5 * (random() % 2)));
  const tools::Ngram model(text, 6);  // character 5 never occurs
  for (const Text& history : {Text{}, Text{1}, Text{0, 0}, Text{5, 5}, Text{2, 5, 3}}) {
    double sum = 0;
    for (std::uint8_t c = 0; c < 6; ++c) {
      Text next = history;
      next.push_back(c);
      sum += std::exp(-model.loss(next, history.size()));
    }
    // The last characters of the text are seen as a history that nothing follows: a little of it is lost there.
    CHECK(sum <= 1 + 1e-9);
    CHECK(sum > 1 - 0.005);
  }
}
