#include <keyway/nn/functional/dropout.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::nn::functional {

namespace {

void check_probability(const char* name, double p) {
  KEYWAY_CHECK(p >= 0 && p <= 1, "{}: p is a probability, but is {}", name, p);
}

// The sizes of the first `kept` dimensions, and 1 for the others.
std::vector<std::int64_t> of_channels(const Tensor& input, std::int64_t kept) {
  std::vector<std::int64_t> sizes = input.sizes().vec();
  for (std::size_t i = static_cast<std::size_t>(kept); i < sizes.size(); ++i) sizes[i] = 1;
  return sizes;
}

// `kept`: how many dimensions tell channels apart.
Tensor channel_dropout(const char* name, const Tensor& input, std::int64_t kept, double p, bool training,
                       bool inplace) {
  check_probability(name, p);
  if (!training || p == 0) return input;
  KEYWAY_CHECK(input.dim() >= kept, "{}: an input has {} dimensions or more, not {}", name, kept, input.dim());
  const Tensor mask = input.new_empty(of_channels(input, kept)).bernoulli_(1 - p);
  const Tensor factor = p < 1 ? mask.div(1 - p) : mask;
  return inplace ? input.mul_(factor) : input.mul(factor);
}

Tensor dropped(const char* name, const Tensor& input, const std::vector<std::int64_t>& sizes, double p, bool training,
               bool inplace) {
  constexpr double kLeast = -1.7580993408473766;  // what selu tends to for very negative numbers
  check_probability(name, p);
  if (!training || p == 0 || input.numel() == 0) return input;
  if (p == 1) return inplace ? input.mul_(0) : input.mul(0);
  const Tensor kept = input.new_empty(sizes).bernoulli_(1 - p);
  const double scale = std::pow((1 + kLeast * kLeast * p) * (1 - p), -0.5);
  const Tensor shift = kept.sub(1).mul(-kLeast * scale).sub(kLeast * scale * p);
  const Tensor factor = kept.mul(scale);
  return inplace ? input.mul_(factor).add_(shift) : input.mul(factor).add(shift);
}

}  // namespace

Tensor dropout1d(const Tensor& input, double p, bool training, bool inplace) {
  KEYWAY_CHECK(input.dim() == 2 || input.dim() == 3, "dropout1d: an input has 2 or 3 dimensions, not {}", input.dim());
  return channel_dropout("dropout1d", input, input.dim() == 3 ? 2 : 1, p, training, inplace);
}

Tensor dropout2d(const Tensor& input, double p, bool training, bool inplace) {
  return channel_dropout("dropout2d", input, 2, p, training, inplace);
}

Tensor dropout3d(const Tensor& input, double p, bool training, bool inplace) {
  return channel_dropout("dropout3d", input, input.dim() == 5 ? 2 : 1, p, training, inplace);
}

Tensor alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  return dropped("alpha_dropout", input, input.sizes().vec(), p, training, inplace);
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  KEYWAY_CHECK(!training || p == 0 || input.dim() >= 2,
               "feature_alpha_dropout: an input has 2 dimensions or more, not {}", input.dim());
  return dropped("feature_alpha_dropout", input, of_channels(input, 2), p, training, inplace);
}

}  // namespace keyway::inline v1::nn::functional
