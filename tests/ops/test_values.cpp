#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/all.h>
#include <keyway/tests/ops/test_values.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c != ' ')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

void narrow_down(Interval& interval, const std::string& relation, double bound) {
  if (relation[0] == '>') interval.low = bound;
  if (relation[0] == '<') interval.high = bound;
}

// Keeps a distance from the halves, where rounding, clamping and the like change what they do.
double away_from_halves(double value) {
  constexpr double kDistance = 0.02;
  const double nearest = std::round(value * 2) / 2;
  return std::abs(value - nearest) < kDistance ? nearest + (value < nearest ? -kDistance : kDistance) * 1.5 : value;
}

}  // namespace

Interval interval_of(std::string_view domain, std::string_view argument) {
  Interval interval;
  while (!domain.empty()) {
    const std::size_t end = domain.find('\n');
    const auto words = words_of(domain.substr(0, end));
    domain.remove_prefix(std::min(end + 1, domain.size()));
    const auto at = static_cast<std::size_t>(std::find(words.begin(), words.end(), argument) - words.begin());
    if (at == words.size()) continue;
    if (at + 2 < words.size()) narrow_down(interval, words[at + 1], std::stod(words[at + 2]));
    if (at == 2) narrow_down(interval, words[1][0] == '<' ? ">" : "<", std::stod(words[0]));
  }
  if (interval.high <= interval.low) interval.high = interval.low + 3;
  return interval;
}

Tensor test_values(IntArrayRef sizes, ScalarType dtype, Interval interval, std::size_t& first) {
  const NoGradGuard no_grad;
  Tensor values = keyway::empty(sizes, TensorOptions().dtype(ScalarType::Double));
  auto* data = values.data_ptr<double>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const auto k = static_cast<double>(first++);
    if (dtype == ScalarType::Bool) {
      data[i] = std::fmod(k, 2);
    } else if (is_integral(dtype, false)) {
      data[i] = 1 + std::fmod(k, 3);
    } else {
      // Multiples of the golden ratio, modulo 1, are spread evenly and never meet.
      const double part = std::fmod((k + 1) * 0.6180339887498949, 1.0);
      const double margin = 0.05 * (interval.high - interval.low);
      data[i] = away_from_halves(interval.low + margin + part * (interval.high - interval.low - 2 * margin));
    }
  }
  return values.to(dtype);
}

}  // namespace keyway::inline v1::testing
