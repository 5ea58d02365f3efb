#include <keyway/nn/functional/loss.h>
#include <keyway/nn/modules/margin_loss.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor HingeEmbeddingLossImpl::forward(const Tensor& input, const Tensor& target) {
  return hinge_embedding_loss(input, target, options.margin(), options.reduction());
}

Tensor CosineEmbeddingLossImpl::forward(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return cosine_embedding_loss(input1, input2, target, options.margin(), options.reduction());
}

Tensor MarginRankingLossImpl::forward(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return margin_ranking_loss(input1, input2, target, options.margin(), options.reduction());
}

MultiMarginLossImpl::MultiMarginLossImpl(MultiMarginLossOptions options_) : WeightedLoss(std::move(options_)) {
  KEYWAY_CHECK(options.p() == 1 || options.p() == 2, "MultiMarginLoss: p is {}, but must be 1 or 2", options.p());
  KEYWAY_CHECK(!weight.defined() || weight.dim() == 1, "MultiMarginLoss: weight has {} dimensions, but must have 1",
               weight.dim());
}
Tensor MultiMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return multi_margin_loss(input, target, options.p(), options.margin(), if_defined(weight), options.reduction());
}

Tensor MultiLabelMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return multilabel_margin_loss(input, target, options.reduction());
}

Tensor MultiLabelSoftMarginLossImpl::forward(const Tensor& input, const Tensor& target) {
  return functional::multilabel_soft_margin_loss(input, target, weight, options.reduction());
}

namespace {

void check_margin(const char* loss, double margin) {
  KEYWAY_CHECK(margin > 0, "{}: margin is {}, but must be greater than 0", loss, margin);
}

}  // namespace

TripletMarginLossImpl::TripletMarginLossImpl(TripletMarginLossOptions options_) : WithOptions(std::move(options_)) {
  check_margin("TripletMarginLoss", options.margin());
}
Tensor TripletMarginLossImpl::forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
  return triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(), options.eps(), options.swap(),
                             options.reduction());
}

TripletMarginWithDistanceLossImpl::TripletMarginWithDistanceLossImpl(TripletMarginWithDistanceLossOptions options_)
    : WithOptions(std::move(options_)) {
  check_margin("TripletMarginWithDistanceLoss", options.margin());
}
Tensor TripletMarginWithDistanceLossImpl::forward(const Tensor& anchor, const Tensor& positive,
                                                  const Tensor& negative) {
  return functional::triplet_margin_with_distance_loss(anchor, positive, negative, options.distance_function(),
                                                       options.margin(), options.swap(), options.reduction());
}

Tensor PoissonNLLLossImpl::forward(const Tensor& input, const Tensor& target) {
  return poisson_nll_loss(input, target, options.log_input(), options.full(), options.eps(), options.reduction());
}

Tensor GaussianNLLLossImpl::forward(const Tensor& input, const Tensor& target, const Tensor& var) {
  return functional::gaussian_nll_loss(input, target, var, options.full(), options.eps(), options.reduction());
}

Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                            const Tensor& target_lengths) {
  return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths, options.blank(), options.reduction(),
                              options.zero_infinity());
}

}  // namespace keyway::inline v1::nn
