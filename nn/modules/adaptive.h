// AdaptiveLogSoftmaxWithLoss: a softmax over many classes whose rare ones share few weights (Grave et al., 2017).
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/modules/module_list.h>
#include <keyway/nn/option.h>

#include <tuple>
#include <vector>

namespace keyway::inline v1::nn {

class AdaptiveLogSoftmaxWithLossOptions {
 public:
  AdaptiveLogSoftmaxWithLossOptions(std::int64_t in_features, std::int64_t n_classes, std::vector<std::int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  KEYWAY_OPTION(std::int64_t, in_features);
  KEYWAY_OPTION(std::int64_t, n_classes);
  KEYWAY_OPTION(std::vector<std::int64_t>, cutoffs);
  KEYWAY_OPTION(double, div_value) = 4;
  KEYWAY_OPTION(bool, head_bias) = false;
};

// Log-probabilities of `n_classes` classes, which are sorted by how frequent they are, most frequent first. The first
// cutoffs[0] have scores of their own in `head`, a Linear of in_features; so has each cluster of classes between one
// cutoff and the next, whose classes are told apart by `tail`: two Linears, through in_features / div_value^i features
// for cluster i = 1, 2, ...
class KEYWAY_API AdaptiveLogSoftmaxWithLossImpl : public Module {
 public:
  // Throws keyway::Error for cutoffs that are not increasing numbers of 1 to n_classes - 1.
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options);

  void reset_parameters();
  // Of inputs [batch, in_features] and classes [batch], or [in_features] and []: the log-probability of each target,
  // and the loss, the mean of their negatives. Waits for the device. Throws keyway::Error for other shapes and for
  // classes that are none.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& target);
  // The log-probabilities of all classes: [batch, in_features] to [batch, n_classes].
  Tensor log_prob(const Tensor& input);
  // The most probable class: [batch, in_features] to [batch].
  Tensor predict(const Tensor& input);

  AdaptiveLogSoftmaxWithLossOptions options;
  Linear head{nullptr};
  ModuleList tail{nullptr};

 private:
  // The scores of the classes of one cluster.
  Tensor scores_of(std::size_t cluster, const Tensor& input) const;
  std::vector<std::int64_t> bounds_;  // the cutoffs, and behind them n_classes
};
using AdaptiveLogSoftmaxWithLoss = ModuleHolder<AdaptiveLogSoftmaxWithLossImpl>;

}  // namespace keyway::inline v1::nn
