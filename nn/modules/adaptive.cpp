#include <keyway/nn/modules/adaptive.h>
#include <keyway/nn/modules/sequential.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::nn {

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)), bounds_(options.cutoffs()) {
  bounds_.push_back(options.n_classes());
  std::int64_t before = 0;
  for (const std::int64_t bound : bounds_) {
    KEYWAY_CHECK(
        bound > before && bounds_.size() > 1,
        "AdaptiveLogSoftmaxWithLoss: cutoffs must be increasing numbers of 1 to n_classes - 1, {}, but one is {} "
        "behind {}",
        options.n_classes() - 1, bound, before);
    before = bound;
  }
  const std::int64_t in = options.in_features();
  const auto clusters = static_cast<std::int64_t>(options.cutoffs().size());
  head = register_module("head", Linear(LinearOptions(in, bounds_[0] + clusters).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (std::size_t i = 0; i + 1 < bounds_.size(); ++i) {
    const double part = std::pow(options.div_value(), static_cast<double>(i + 1));
    const auto hidden = static_cast<std::int64_t>(std::floor(static_cast<double>(in) / part));
    const std::int64_t classes = bounds_[i + 1] - bounds_[i];
    const Linear first(LinearOptions(in, hidden).bias(false));  // whose numbers are drawn first
    tail->push_back(Sequential(first, Linear(LinearOptions(hidden, classes).bias(false))));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (std::size_t i = 0; i < tail->size(); ++i) {
    auto& pair = tail->at<SequentialImpl>(i);
    pair.at<LinearImpl>(0).reset_parameters();
    pair.at<LinearImpl>(1).reset_parameters();
  }
}

Tensor AdaptiveLogSoftmaxWithLossImpl::scores_of(std::size_t cluster, const Tensor& input) const {
  return log_softmax(tail->at<SequentialImpl>(cluster).forward(input), 1);
}

std::tuple<Tensor, Tensor> AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  const bool is_single = target.dim() == 0;
  KEYWAY_CHECK(target.dim() <= 1 && input.dim() == target.dim() + 1 && (is_single || input.size(0) == target.size(0)),
               "AdaptiveLogSoftmaxWithLoss: an input {} and a target {} are not [batch, {}] and [batch]", input.sizes(),
               target.sizes(), options.in_features());
  const Tensor x = is_single ? input.unsqueeze(0) : input, classes = is_single ? target.unsqueeze(0) : target;
  if (classes.numel() > 0) {
    const auto least = classes.min().item<std::int64_t>(), most = classes.max().item<std::int64_t>();
    KEYWAY_CHECK(0 <= least && most < options.n_classes(),
                 "AdaptiveLogSoftmaxWithLoss: targets are from {} to {}, but must be in [0, {})", least, most,
                 options.n_classes());
  }
  const Tensor scores = log_softmax(head(x), 1);
  Tensor column = classes, total = x.new_zeros({x.size(0)});
  for (std::size_t i = 0; i + 1 < bounds_.size(); ++i) {
    const Tensor inside = classes.ge(bounds_[i]).logical_and(classes.lt(bounds_[i + 1]));
    column = where(inside, Scalar(bounds_[0] + static_cast<std::int64_t>(i)), column);
    const Tensor rows = inside.nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    const Tensor within = classes.index_select(0, rows).sub(bounds_[i]).unsqueeze(1);
    const Tensor found = scores_of(i, x.index_select(0, rows)).gather(1, within).squeeze(1);
    total = total.index_add(0, rows, found);
  }
  const Tensor output = total.add(scores.gather(1, column.unsqueeze(1)).squeeze(1));
  return {is_single ? output.squeeze(0) : output, output.neg().mean()};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  const Tensor scores = log_softmax(head(input), 1);
  std::vector<Tensor> parts = {scores.narrow(1, 0, bounds_[0])};
  for (std::size_t i = 0; i < tail->size(); ++i) {
    const Tensor of_cluster = scores.narrow(1, bounds_[0] + static_cast<std::int64_t>(i), 1);
    parts.push_back(scores_of(i, input).add(of_cluster));
  }
  return cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) { return log_prob(input).argmax(1); }

}  // namespace keyway::inline v1::nn
