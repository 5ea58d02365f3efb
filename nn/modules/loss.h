// Losses as modules: of an input and a target, the mean over all elements, their sum or each (Reduction).
#pragma once

#include <keyway/core/tensor/reduction.h>
#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

#include <utility>

namespace keyway::inline v1::nn {

// A reduction of KLDivLoss alone.
inline constexpr std::int64_t kBatchMean = 3;

// Of losses that have no other options.
class ReductionOptions {
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};

// A loss with a weight, which may be undefined.
template <typename Options>
class KEYWAY_API WeightedLoss : public WithOptions<Options> {
 public:
  explicit WeightedLoss(Options options_ = {})
      : WithOptions<Options>(std::move(options_)), weight(this->register_buffer("weight", this->options.weight())) {}
  Tensor weight;  // a buffer
};

using L1LossOptions = ReductionOptions;
// Mean of |x - y|.
KEYWAY_MODULE(L1Loss, WithOptions<L1LossOptions>, Tensor forward(const Tensor& input, const Tensor& target));

using MSELossOptions = ReductionOptions;
// Mean of (x - y)^2.
KEYWAY_MODULE(MSELoss, WithOptions<MSELossOptions>, Tensor forward(const Tensor& input, const Tensor& target));

class SmoothL1LossOptions {
  KEYWAY_OPTION(double, beta) = 1;  // 0: L1Loss
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// (x - y)^2 / (2 beta) below beta, |x - y| - beta / 2 above.
KEYWAY_MODULE(SmoothL1Loss, WithOptions<SmoothL1LossOptions>,
              Tensor forward(const Tensor& input, const Tensor& target));

class HuberLossOptions {
  KEYWAY_OPTION(double, delta) = 1;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// (x - y)^2 / 2 below delta, delta (|x - y| - delta / 2) above.
KEYWAY_MODULE(HuberLoss, WithOptions<HuberLossOptions>, Tensor forward(const Tensor& input, const Tensor& target));

class KLDivLossOptions {
  KEYWAY_OPTION(bool, log_target) = false;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;  // or kBatchMean: the sum divided by the first size
};
// y (log(y) - x), of log-probabilities x and probabilities y, or their logarithms.
KEYWAY_MODULE(KLDivLoss, WithOptions<KLDivLossOptions>, Tensor forward(const Tensor& input, const Tensor& target));

using SoftMarginLossOptions = ReductionOptions;
// Log(1 + exp(-y x)).
KEYWAY_MODULE(SoftMarginLoss, WithOptions<SoftMarginLossOptions>,
              Tensor forward(const Tensor& input, const Tensor& target));

class NLLLossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, ignore_index) = -100;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// -weight x of the target's class, of log-probabilities [batch, classes, ...].
KEYWAY_MODULE(NLLLoss, WeightedLoss<NLLLossOptions>, Tensor forward(const Tensor& input, const Tensor& target));

class CrossEntropyLossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, ignore_index) = -100;
  KEYWAY_OPTION(double, label_smoothing) = 0;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// The same of logits; targets are classes, or probabilities of each.
KEYWAY_MODULE(CrossEntropyLoss, WeightedLoss<CrossEntropyLossOptions>,
              Tensor forward(const Tensor& input, const Tensor& target));

class BCELossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// -weight (y log(x) + (1 - y) log(1 - x)), of probabilities.
KEYWAY_MODULE(BCELoss, WeightedLoss<BCELossOptions>, Tensor forward(const Tensor& input, const Tensor& target));

class BCEWithLogitsLossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(Tensor, pos_weight) = {};  // of the term of y
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// BCELoss of the sigmoid of the input, which keeps its digits.
class KEYWAY_API BCEWithLogitsLossImpl : public WeightedLoss<BCEWithLogitsLossOptions> {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options = {});
  Tensor forward(const Tensor& input, const Tensor& target);
  Tensor pos_weight;  // a buffer
};
using BCEWithLogitsLoss = ModuleHolder<BCEWithLogitsLossImpl>;

}  // namespace keyway::inline v1::nn
