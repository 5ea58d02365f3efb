#include <keyway/tools/keyway/train/loss_curve.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace keyway::inline v1::tools {

namespace {

// What the axes reach: all that is drawn, with round ends.
struct Range {
  double low = 0, high = 1;
  double fraction(double value) const { return (value - low) / (high - low); }
};

Range loss_range(const LossCurve& curve) {
  constexpr double kGrid = 0.5;
  double low = curve.ngram, high = curve.ngram;
  for (const auto* points : {&curve.training, &curve.held_out}) {
    for (const LossPoint& point : *points) {
      if (!std::isfinite(point.loss)) continue;
      low = std::min(low, point.loss);
      high = std::max(high, point.loss);
    }
  }
  low = std::floor(low / kGrid) * kGrid;
  return {low, std::max(std::ceil(high / kGrid) * kGrid, low + kGrid)};
}

Range step_range(const LossCurve& curve) {
  std::int64_t last = 1;
  for (const auto* points : {&curve.training, &curve.held_out}) {
    if (!points->empty()) last = std::max(last, points->back().step);
  }
  return {0, static_cast<double>(last)};
}

std::size_t cell(double fraction, std::size_t cells) {
  return static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(cells - 1)));
}

// The plane of an SVG picture.
constexpr double kWidth = 720, kHeight = 400, kLeft = 56, kRight = 16, kTop = 40, kBottom = 48;

class Plane {
 public:
  explicit Plane(const LossCurve& curve) : steps_(step_range(curve)), losses_(loss_range(curve)) {}

  const Range& losses() const { return losses_; }
  double x(double step) const { return kLeft + steps_.fraction(step) * (kWidth - kLeft - kRight); }
  double y(double loss) const { return kHeight - kBottom - losses_.fraction(loss) * (kHeight - kTop - kBottom); }

  std::string line(const std::vector<LossPoint>& points, const char* style) const {
    std::string list;
    for (const LossPoint& point : points) {
      if (std::isfinite(point.loss)) {
        list += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(point.step)), y(point.loss));
      }
    }
    return fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", style, list);
  }

  std::string axes() const {
    std::string out;
    for (double loss = losses_.low; loss <= losses_.high + 1e-9; loss += 0.5) {
      out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kLeft,
                         kWidth - kRight, y(loss), y(loss));
      out +=
          fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.1f}</text>\n", kLeft - 8, y(loss) + 4, loss);
    }
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const double step = steps_.high * quarter / 4;
      out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>\n", x(step),
                         kHeight - kBottom + 18, step);
    }
    return out + fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">step</text>\n", x(steps_.high / 2),
                             kHeight - 10);
  }

 private:
  Range steps_, losses_;
};

std::string legend() {
  constexpr const char* kEntries[][2] = {{"training", "training"}, {"held-out", "held"}, {"order-3 n-gram", "ngram"}};
  std::string out;
  double x = kWidth - 330;
  for (const auto& [label, style] : kEntries) {
    out += fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"20\" y2=\"20\"/>\n", style, x, x + 24);
    out += fmt::format("<text x=\"{}\" y=\"24\">{}</text>\n", x + 30, label);
    x += 105;
  }
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

constexpr const char* kStyle =
    "<style>\n"
    "  text { font: 12px sans-serif; fill: #555 }\n"
    "  line, polyline { fill: none; stroke-width: 1.5 }\n"
    "  .grid { stroke: #8884; stroke-width: 1 }\n"
    "  .training { stroke: #7aa6d8 }\n"
    "  .held { stroke: #d8572a; stroke-width: 2.5 }\n"
    "  .ngram { stroke: #888; stroke-dasharray: 6 4 }\n"
    "  @media (prefers-color-scheme: dark) { text { fill: #bbb } }\n"
    "</style>\n";

}  // namespace

std::vector<LossPoint> thinned(const std::vector<LossPoint>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<LossPoint> means;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t begin = i * points.size() / most, end = (i + 1) * points.size() / most;
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += points[j].loss;
    means.push_back({points[(begin + end) / 2].step, sum / static_cast<double>(end - begin)});
  }
  return means;
}

std::string draw_text(const LossCurve& curve, std::size_t width, std::size_t height) {
  const Range losses = loss_range(curve), steps = step_range(curve);
  std::vector<std::string> rows(height, std::string(width, ' '));
  const auto row_of = [&](double loss) { return height - 1 - cell(losses.fraction(loss), height); };
  const auto plot = [&](const std::vector<LossPoint>& points, char mark) {
    for (const LossPoint& point : points) {
      if (!std::isfinite(point.loss)) continue;
      rows[row_of(point.loss)][cell(steps.fraction(static_cast<double>(point.step)), width)] = mark;
    }
  };
  rows[row_of(curve.ngram)].assign(width, '-');
  plot(thinned(curve.training, width), '.');
  plot(curve.held_out, 'o');

  std::string out;
  for (std::size_t row = 0; row < height; ++row) {
    const double loss =
        losses.high - (losses.high - losses.low) * static_cast<double>(row) / static_cast<double>(height - 1);
    out += fmt::format("{:6.2f} |{}\n", loss, rows[row]);
  }
  const std::string last = fmt::format("{:.0f} steps", steps.high);
  out += fmt::format("       +{}\n       0{:>{}}\n", std::string(width, '-'), last, width);
  return out + "       nats a character:  . training   o held-out   --- order-3 n-gram, held-out\n";
}

std::string draw_svg(const LossCurve& curve, const std::string& title) {
  const Plane plane(curve);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>{2}</title>\n{3}<text x=\"{4}\" y=\"24\">{2}</text>\n",
      kWidth, kHeight, escaped(title), kStyle, kLeft);
  out += plane.axes() + legend();
  out += plane.line(thinned(curve.training, 300), "training");
  const std::vector<LossPoint> level = {{0, curve.ngram},
                                        {static_cast<std::int64_t>(step_range(curve).high), curve.ngram}};
  return out + plane.line(level, "ngram") + plane.line(curve.held_out, "held") + "</svg>\n";
}

}  // namespace keyway::inline v1::tools
