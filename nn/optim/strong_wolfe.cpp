#include <keyway/nn/optim/strong_wolfe.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace keyway::inline v1::optim {

namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;
constexpr int kMostRounds = 25;

// Where the cubic through two points with their slopes is least, within bounds; their middle if it has no minimum.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const bool in_order = a.t <= b.t;
  const LinePoint &left = in_order ? a : b, &right = in_order ? b : a;
  const double d = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d * d - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double root = std::sqrt(square);
  const double denominator = right.slope - left.slope + 2 * root;
  if (denominator == 0) return (low + high) / 2;
  const double t = right.t - (right.t - left.t) * (right.slope + root - d) / denominator;
  return std::min(std::max(t, low), high);
}

double cubic_minimum(const LinePoint& a, const LinePoint& b) {
  return cubic_minimum(a, b, std::min(a.t, b.t), std::max(a.t, b.t));
}

// A length that is not too near the ends for two rounds, and whether this one is.
std::pair<double, bool> inside(double t, double one, double other, bool was_slow) {
  const double least = std::min(one, other), most = std::max(one, other), margin = 0.1 * (most - least);
  if (!(std::min(most - t, t - least) < margin)) return {t, false};
  if (!was_slow && t < most && t > least) return {t, true};
  return {std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin, false};
}

}  // namespace

StrongWolfe::StrongWolfe(Evaluate evaluate, LinePoint start, double direction_max, double tolerance_change)
    : evaluate_(std::move(evaluate)),
      start_(std::move(start)),
      direction_max_(direction_max),
      tolerance_change_(tolerance_change) {}

LinePoint StrongWolfe::search(double t) {
  std::vector<LinePoint> ends = bracket(t);
  return ends.size() == 1 ? ends[0] : zoom(std::move(ends));
}

bool StrongWolfe::is_too_high(const LinePoint& point) const {
  return point.loss > start_.loss + kDecrease * point.t * start_.slope;
}

bool StrongWolfe::is_flat(const LinePoint& point) const { return std::abs(point.slope) <= -kCurvature * start_.slope; }

std::vector<LinePoint> StrongWolfe::bracket(double t) {
  LinePoint before = start_, now = evaluate_(t);
  while (rounds_ < kMostRounds) {
    if (is_too_high(now) || (rounds_ > 1 && now.loss >= before.loss)) return {before, now};
    if (is_flat(now)) return {now};
    if (now.slope >= 0) return {before, now};
    const double next = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
    before = std::exchange(now, evaluate_(next));
    ++rounds_;
  }
  return {start_, now};
}

LinePoint StrongWolfe::zoom(std::vector<LinePoint> ends) {
  bool first = ends[0].loss <= ends[1].loss;  // whether the lower end is the first of the pair
  LinePoint low = ends[first ? 0 : 1], high = ends[first ? 1 : 0];
  bool was_slow = false;
  while (rounds_ < kMostRounds && !(std::abs(high.t - low.t) * direction_max_ < tolerance_change_)) {
    const double lowest = first ? cubic_minimum(low, high) : cubic_minimum(high, low);
    const auto [t, is_slow] = inside(lowest, low.t, high.t, was_slow);
    was_slow = is_slow;
    LinePoint now = evaluate_(t);
    ++rounds_;
    if (is_too_high(now) || now.loss >= low.loss) {
      high = std::move(now);
      if (high.loss < low.loss || (high.loss == low.loss && !first)) {
        std::swap(low, high);
        first = !first;
      }
      continue;
    }
    if (is_flat(now)) return now;
    if (now.slope * (high.t - low.t) >= 0) high = low;
    low = std::move(now);
  }
  return low;
}

}  // namespace keyway::inline v1::optim
