// multinomial. With replacement each sample is looked up in the running sums of a row's weights. Without, every
// weight gets an exponentially distributed time of that rate, and those with the earliest times are drawn
// (Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006).
#include <keyway/backends/cpu/kernels_random.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/base/error.h>
#include <keyway/ops/functors/random.h>

#include <algorithm>
#include <cmath>
#include <compare>

namespace keyway::inline v1 {

namespace {

// When a class comes, and its number.
struct Arrival {
  double time;
  std::int64_t number;
  friend auto operator<=>(const Arrival&, const Arrival&) = default;
};

struct Draw {
  PhiloxCall call;
  const double* weights;
  std::int64_t* out;
  std::int64_t classes;
  std::int64_t samples;

  void with_replacement(std::int64_t row) const {
    const ScratchArray<double> sums(classes);
    double sum = 0;
    std::int64_t last = 0;  // with a weight
    for (std::int64_t first = 0; first < classes; first += kSummedWeights) {
      const double before = sum;
      double here = 0;
      for (std::int64_t c = first; c < std::min(classes, first + kSummedWeights); ++c) {
        const double weight = weights[row * classes + c];
        here += weight;
        sums[c] = sum = before + here;
        if (weight > 0) last = c;
      }
    }
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::int64_t index = row * samples + s;
      const double u = uniform_double(call.bits(static_cast<std::uint64_t>(index)).wide(0)) * sum;
      const auto found = std::upper_bound(sums.begin(), sums.end(), u) - sums.begin();
      out[index] = std::min<std::int64_t>(found, last);
    }
  }

  void without_replacement(std::int64_t row) const {
    const ScratchArray<Arrival> times(classes);
    for (std::int64_t c = 0; c < classes; ++c) {
      const std::int64_t index = row * classes + c;
      const double time = weights[index] > 0 ? Waiting{call}(index) / weights[index] : INFINITY;
      times[c] = {time, weights[index] > 0 ? c : classes + c};
    }
    std::partial_sort(times.begin(), times.begin() + samples, times.end());
    for (std::int64_t s = 0; s < samples; ++s) out[row * samples + s] = times[s].number;
  }
};

// Each row must have weights, and as many that are not zero as are drawn without replacement.
void check_weights(const double* weights, std::int64_t rows, std::int64_t classes, std::int64_t needed) {
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t positive = 0;
    double sum = 0;
    for (std::int64_t i = r * classes; i < (r + 1) * classes; ++i) {
      KEYWAY_CHECK(weights[i] >= 0 && std::isfinite(weights[i]),
                   "argument 'self' has {} at position {}, but a weight is finite and not negative", weights[i], i);
      positive += weights[i] > 0 ? 1 : 0;
      sum += weights[i];
    }
    KEYWAY_CHECK(positive >= needed, "row {} of argument 'self' has {} weights that are not zero, but {} {} needed", r,
                 positive, needed, needed == 1 ? "is" : "are");
    KEYWAY_CHECK(std::isfinite(sum), "the weights in row {} of argument 'self' add up to infinity", r);
  }
}

}  // namespace

namespace cpu {

void multinomial(const TensorBase& self, std::int64_t num_samples, bool replacement, const Generator& generator,
                 TensorBase& out) {
  const std::int64_t classes = self.sizes().back(), rows = self.numel() / classes;
  const TensorBase weights = contiguous_as(self, kDouble);
  const auto* const weight = static_cast<const double*>(weights.data_ptr());
  check_weights(weight, rows, classes, replacement ? 1 : num_samples);
  const ContiguousOut result(out);
  const Draw draw{next_call(generator, kCPU), weight, result.data<std::int64_t>(), classes, num_samples};
  parallel_for(0, rows, std::max<std::int64_t>(1, 4096 / classes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) replacement ? draw.with_replacement(r) : draw.without_replacement(r);
  });
  result.finish();
}

}  // namespace cpu

}  // namespace keyway::inline v1
