#include <keyway/nn/modules/adaptive.h>
#include <keyway/nn/modules/loss.h>
#include <keyway/nn/modules/margin_loss.h>
#include <keyway/tests/nn/languages/cases.h>

namespace keyway::inline v1::testing {

namespace {

// A loss with default options, changed by what the case has.
template <typename Holder, typename Options, typename Read>
Maker loss(const Read& read) {
  return [read](Given& given) {
    Options options;
    read(given, options);
    given.read_reduction(options.reduction());
    return made_of<Holder>(options);
  };
}

const auto none = [](Given&, auto&) {};
const auto read_margin = [](Given& given, auto& options) { READ(margin); };
const auto read_weight = [](Given& given, auto& options) { READ(weight); };

Made adaptive(Given& given) {
  nn::AdaptiveLogSoftmaxWithLossOptions options(given.integer("in_features"), given.integer("n_classes"),
                                                given.get<std::vector<std::int64_t>>("cutoffs"));
  READ(div_value), READ(head_bias);
  return made_of<nn::AdaptiveLogSoftmaxWithLoss>(options);
}

Made ctc(Given& given) {
  nn::CTCLossOptions options;
  READ(blank), READ(zero_infinity);
  given.read_reduction(options.reduction());
  nn::CTCLoss module(options);
  return {module.ptr(), [module](const Tensors& x) { return Tensors{module->forward(x[0], x[1], x[2], x[3])}; }};
}

}  // namespace

Makers losses() {
  using namespace nn;
  return {
      {"L1Loss", loss<L1Loss, L1LossOptions>(none)},
      {"MSELoss", loss<MSELoss, MSELossOptions>(none)},
      {"SmoothL1Loss", loss<SmoothL1Loss, SmoothL1LossOptions>([](Given& given, auto& options) { READ(beta); })},
      {"HuberLoss", loss<HuberLoss, HuberLossOptions>([](Given& given, auto& options) { READ(delta); })},
      {"SoftMarginLoss", loss<SoftMarginLoss, SoftMarginLossOptions>(none)},
      {"KLDivLoss", loss<KLDivLoss, KLDivLossOptions>([](Given& given, auto& options) {
         READ(log_target);
         std::string name;
         given.read("reduction", name);
         if (name == "batchmean") options.reduction(kBatchMean);
       })},
      {"NLLLoss", loss<NLLLoss, NLLLossOptions>([](Given& given, auto& options) { READ(weight), READ(ignore_index); })},
      {"CrossEntropyLoss", loss<CrossEntropyLoss, CrossEntropyLossOptions>([](Given& given, auto& options) {
         READ(weight), READ(ignore_index), READ(label_smoothing);
       })},
      {"BCELoss", loss<BCELoss, BCELossOptions>(read_weight)},
      {"BCEWithLogitsLoss", loss<BCEWithLogitsLoss, BCEWithLogitsLossOptions>(
                                [](Given& given, auto& options) { READ(weight), READ(pos_weight); })},
      {"HingeEmbeddingLoss", loss<HingeEmbeddingLoss, HingeEmbeddingLossOptions>(read_margin)},
      {"CosineEmbeddingLoss", loss<CosineEmbeddingLoss, CosineEmbeddingLossOptions>(read_margin)},
      {"MarginRankingLoss", loss<MarginRankingLoss, MarginRankingLossOptions>(read_margin)},
      {"MultiMarginLoss", loss<MultiMarginLoss, MultiMarginLossOptions>(
                              [](Given& given, auto& options) { READ(p), READ(margin), READ(weight); })},
      {"MultiLabelMarginLoss", loss<MultiLabelMarginLoss, MultiLabelMarginLossOptions>(none)},
      {"MultiLabelSoftMarginLoss", loss<MultiLabelSoftMarginLoss, MultiLabelSoftMarginLossOptions>(read_weight)},
      {"TripletMarginLoss", loss<TripletMarginLoss, TripletMarginLossOptions>(
                                [](Given& given, auto& options) { READ(margin), READ(p), READ(eps), READ(swap); })},
      {"TripletMarginWithDistanceLoss", loss<TripletMarginWithDistanceLoss, TripletMarginWithDistanceLossOptions>(
                                            [](Given& given, auto& options) { READ(margin), READ(swap); })},
      {"PoissonNLLLoss", loss<PoissonNLLLoss, PoissonNLLLossOptions>(
                             [](Given& given, auto& options) { READ(log_input), READ(full), READ(eps); })},
      {"GaussianNLLLoss",
       loss<GaussianNLLLoss, GaussianNLLLossOptions>([](Given& given, auto& options) { READ(full), READ(eps); })},
      {"CTCLoss", ctc},
      {"AdaptiveLogSoftmaxWithLoss", adaptive},
  };
}

}  // namespace keyway::inline v1::testing
