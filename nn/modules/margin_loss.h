// Losses of distances, margins, likelihoods and sequences as modules.
#pragma once

#include <keyway/nn/modules/loss.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

#include <functional>

namespace keyway::inline v1::nn {

class HingeEmbeddingLossOptions {
  KEYWAY_OPTION(double, margin) = 1;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// Distances where the target is 1; what they fall short of the margin by where it is -1.
KEYWAY_MODULE(HingeEmbeddingLoss, WithOptions<HingeEmbeddingLossOptions>,
              Tensor forward(const Tensor& input, const Tensor& target));

class CosineEmbeddingLossOptions {
  KEYWAY_OPTION(double, margin) = 0;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// 1 minus the cosine of the angle between vectors [batch, width] where the target is 1; what it exceeds the margin by
// where it is -1.
KEYWAY_MODULE(CosineEmbeddingLoss, WithOptions<CosineEmbeddingLossOptions>,
              Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target));

class MarginRankingLossOptions {
  KEYWAY_OPTION(double, margin) = 0;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// max(0, margin - target * (input1 - input2)).
KEYWAY_MODULE(MarginRankingLoss, WithOptions<MarginRankingLossOptions>,
              Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target));

class MultiMarginLossOptions {
  KEYWAY_OPTION(std::int64_t, p) = 1;  // or 2
  KEYWAY_OPTION(double, margin) = 1;
  KEYWAY_OPTION(Tensor, weight) = {};  // of each class
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// max(0, margin - x[class] + x[i])^p of each other class of [batch, classes], added up and divided by how many there
// are. Throws keyway::Error for another p, and for a weight of other than one dimension.
class KEYWAY_API MultiMarginLossImpl : public WeightedLoss<MultiMarginLossOptions> {
 public:
  explicit MultiMarginLossImpl(MultiMarginLossOptions options = {});
  Tensor forward(const Tensor& input, const Tensor& target);
};
using MultiMarginLoss = ModuleHolder<MultiMarginLossImpl>;

using MultiLabelMarginLossOptions = ReductionOptions;
// max(0, 1 - x[class] + x[i]) of each class that is a target, up to the first -1, and each that is none.
KEYWAY_MODULE(MultiLabelMarginLoss, WithOptions<MultiLabelMarginLossOptions>,
              Tensor forward(const Tensor& input, const Tensor& target));

class MultiLabelSoftMarginLossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};  // of each class
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// The cross entropy of sigmoid(input) and probabilities, averaged over the classes in the last dimension.
KEYWAY_MODULE(MultiLabelSoftMarginLoss, WeightedLoss<MultiLabelSoftMarginLossOptions>,
              Tensor forward(const Tensor& input, const Tensor& target));

class TripletMarginLossOptions {
  KEYWAY_OPTION(double, margin) = 1;
  KEYWAY_OPTION(double, p) = 2;
  KEYWAY_OPTION(double, eps) = 1e-6;
  KEYWAY_OPTION(bool, swap) = false;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// max(0, margin + d(anchor, positive) - d(anchor, negative)) for the p-norm d; with `swap`, d(positive, negative) takes
// the place of the last if it is less. Throws keyway::Error for a margin that is not greater than 0.
class KEYWAY_API TripletMarginLossImpl : public WithOptions<TripletMarginLossOptions> {
 public:
  explicit TripletMarginLossImpl(TripletMarginLossOptions options_ = {});
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
};
using TripletMarginLoss = ModuleHolder<TripletMarginLossImpl>;

class TripletMarginWithDistanceLossOptions {
  KEYWAY_OPTION(std::function<Tensor(const Tensor&, const Tensor&)>, distance_function) = nullptr;  // pairwise_distance
  KEYWAY_OPTION(double, margin) = 1;
  KEYWAY_OPTION(bool, swap) = false;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// TripletMarginLoss with another distance. Throws keyway::Error as that does.
class KEYWAY_API TripletMarginWithDistanceLossImpl : public WithOptions<TripletMarginWithDistanceLossOptions> {
 public:
  explicit TripletMarginWithDistanceLossImpl(TripletMarginWithDistanceLossOptions options_ = {});
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
};
using TripletMarginWithDistanceLoss = ModuleHolder<TripletMarginWithDistanceLossImpl>;

class PoissonNLLLossOptions {
  KEYWAY_OPTION(bool, log_input) = true;  // the input is the logarithm of the expectation
  KEYWAY_OPTION(bool, full) = false;      // about the logarithm of the target's factorial is added
  KEYWAY_OPTION(double, eps) = 1e-8;      // added to an expectation
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// What is against counting events of an expectation: exp(x) - y x, or x - y log(x + eps).
KEYWAY_MODULE(PoissonNLLLoss, WithOptions<PoissonNLLLossOptions>,
              Tensor forward(const Tensor& input, const Tensor& target));

class GaussianNLLLossOptions {
  KEYWAY_OPTION(bool, full) = false;  // half of log(2 pi) is added
  KEYWAY_OPTION(double, eps) = 1e-6;  // what variances count as at least
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// (log(var) + (input - target)^2 / var) / 2: what is against targets of a normal distribution. Throws keyway::Error for
// negative variances.
KEYWAY_MODULE(GaussianNLLLoss, WithOptions<GaussianNLLLossOptions>,
              Tensor forward(const Tensor& input, const Tensor& target, const Tensor& var));

class CTCLossOptions {
  KEYWAY_OPTION(std::int64_t, blank) = 0;
  KEYWAY_OPTION(bool, zero_infinity) = false;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// Minus the log-probability of all ways to read labels out of a longer sequence of log-probabilities [time, batch,
// classes]: functional::ctc_loss.
KEYWAY_MODULE(CTCLoss, WithOptions<CTCLossOptions>,
              Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                             const Tensor& target_lengths));

}  // namespace keyway::inline v1::nn
