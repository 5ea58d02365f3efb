// Ngram: the model that a neural one has to beat: how often a character followed the two before it, the one before it,
// and any, mixed.
//
//   p_k(c | h) = w * count(h c) / count(h) + (1 - w) * p_(k-1)(c | h without its oldest character)
//
// p_0 is uniform. Each order k has a weight w for each magnitude of count(h): what was seen often is trusted more.
#pragma once

#include <keyway/tools/keyway/train/corpus.h>

#include <array>
#include <cstdint>
#include <vector>

namespace keyway::inline v1::tools {

class Ngram {
 public:
  static constexpr std::size_t kOrder = 3;

  // Counts nine tenths of the text, fits the weights to the last tenth, then counts all of it.
  Ngram(Characters text, std::size_t alphabet_size);

  // Mean of -log p of text[begin..], each character given those before it: nats a character.
  double loss(Characters text, std::size_t begin) const;

 private:
  static constexpr std::size_t kMagnitudes = 24;
  // What one character's prediction is mixed from.
  struct Mixture {
    std::array<double, kOrder + 1> share;           // of each order in the probability; they sum up to it
    std::array<std::size_t, kOrder + 1> magnitude;  // of each order's history; 0: it was never seen
    double probability = 0;
  };

  void count(Characters text);
  void fit(Characters text, std::size_t begin);
  Mixture mix(Characters text, std::size_t at) const;

  std::size_t alphabet_size_;
  // By order: of each run of k characters, read as a number in base alphabet_size.
  std::array<std::vector<std::uint32_t>, kOrder + 1> counts_;
  std::array<std::array<double, kMagnitudes>, kOrder + 1> weights_;
};

}  // namespace keyway::inline v1::tools
