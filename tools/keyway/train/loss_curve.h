// LossCurve: what a training run has measured, drawn with characters and as SVG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

struct LossPoint {
  std::int64_t step;
  double loss;  // nats a character
};

struct LossCurve {
  std::vector<LossPoint> training;
  std::vector<LossPoint> held_out;
  double ngram = 0;  // held-out loss of the n-gram model
};

// Means of neighbouring points, at most `most` of them: what a curve of noisy losses is drawn from.
std::vector<LossPoint> thinned(const std::vector<LossPoint>& points, std::size_t most);

// `width` by `height` characters with axes and a legend, ending in a newline. ASCII only.
std::string draw_text(const LossCurve& curve, std::size_t width, std::size_t height);

// A picture that needs nothing else and is legible on light and dark pages.
std::string draw_svg(const LossCurve& curve, const std::string& title);

}  // namespace keyway::inline v1::tools
