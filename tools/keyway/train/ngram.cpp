#include <keyway/tools/keyway/train/ngram.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace keyway::inline v1::tools {

Ngram::Ngram(Characters text, std::size_t alphabet_size) : alphabet_size_(alphabet_size) {
  const std::size_t counted = text.size() / 10 * 9;
  for (auto& weights : weights_) weights.fill(0.5);
  count(text.first(counted));
  fit(text, counted);
  count(text);
}

void Ngram::count(Characters text) {
  std::size_t size = 1;
  for (auto& counts : counts_) {
    counts.assign(size, 0);
    size *= alphabet_size_;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t run = 0, scale = 1;
    for (std::size_t k = 0; k <= std::min(kOrder, at + 1); ++k) {
      ++counts_[k][run];
      if (k <= at) run += scale * text[at - k];
      scale *= alphabet_size_;
    }
  }
}

// Expectation maximisation: each order's share of the probability tells how much the text owes to it.
void Ngram::fit(Characters text, std::size_t begin) {
  constexpr int kRounds = 30;
  constexpr double kMostTrust = 0.9999;  // what was never seen stays possible
  for (int round = 0; round < kRounds; ++round) {
    std::array<std::array<double, kMagnitudes>, kOrder + 1> taken{}, reached{};
    for (std::size_t at = begin; at < text.size(); ++at) {
      const Mixture mixture = mix(text, at);
      double below = 0;
      for (std::size_t k = 0; k <= kOrder; ++k) {
        below += mixture.share[k] / mixture.probability;
        taken[k][mixture.magnitude[k]] += mixture.share[k] / mixture.probability;
        reached[k][mixture.magnitude[k]] += below;
      }
    }
    for (std::size_t k = 1; k <= kOrder; ++k) {
      for (std::size_t m = 1; m < kMagnitudes; ++m) {
        if (reached[k][m] > 0) weights_[k][m] = std::min(taken[k][m] / reached[k][m], kMostTrust);
      }
    }
  }
}

Ngram::Mixture Ngram::mix(Characters text, std::size_t at) const {
  Mixture mixture{};
  double rest = 1;
  std::array<double, kOrder + 1> frequency{1 / static_cast<double>(alphabet_size_)};
  std::size_t history = 0, scale = 1;
  for (std::size_t k = 1; k <= std::min(kOrder, at + 1); ++k) {
    const std::uint32_t seen = counts_[k - 1][history];
    const std::uint32_t followed = counts_[k][history * alphabet_size_ + text[at]];
    mixture.magnitude[k] = std::min<std::size_t>(std::bit_width(seen), kMagnitudes - 1);
    frequency[k] = seen == 0 ? 0 : static_cast<double>(followed) / seen;
    if (k <= at) history += scale * text[at - k];
    scale *= alphabet_size_;
  }
  for (std::size_t k = kOrder + 1; k-- > 0;) {
    const double weight = k == 0 ? 1 : mixture.magnitude[k] == 0 ? 0 : weights_[k][mixture.magnitude[k]];
    mixture.share[k] = rest * weight * frequency[k];
    mixture.probability += mixture.share[k];
    rest *= 1 - weight;
  }
  return mixture;
}

double Ngram::loss(Characters text, std::size_t begin) const {
  double sum = 0;
  for (std::size_t at = begin; at < text.size(); ++at) sum -= std::log(mix(text, at).probability);
  return sum / static_cast<double>(text.size() - begin);
}

}  // namespace keyway::inline v1::tools
