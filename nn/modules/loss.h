// Losses as modules: of an input and a target, the mean over all elements, their sum or each (Reduction).
#pragma once

#include <keyway/core/tensor/reduction.h>
#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

// A reduction of KLDivLoss alone.
inline constexpr std::int64_t kBatchMean = 3;

class L1LossOptions {
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// Mean of |x - y|.
class KEYWAY_API L1LossImpl : public Module {
 public:
  explicit L1LossImpl(L1LossOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input, const Tensor& target);
  L1LossOptions options;
};
using L1Loss = ModuleHolder<L1LossImpl>;

class MSELossOptions {
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// Mean of (x - y)^2.
class KEYWAY_API MSELossImpl : public Module {
 public:
  explicit MSELossImpl(MSELossOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input, const Tensor& target);
  MSELossOptions options;
};
using MSELoss = ModuleHolder<MSELossImpl>;

class SmoothL1LossOptions {
  KEYWAY_OPTION(double, beta) = 1;  // 0: L1Loss
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// (x - y)^2 / (2 beta) below beta, |x - y| - beta / 2 above.
class KEYWAY_API SmoothL1LossImpl : public Module {
 public:
  explicit SmoothL1LossImpl(SmoothL1LossOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input, const Tensor& target);
  SmoothL1LossOptions options;
};
using SmoothL1Loss = ModuleHolder<SmoothL1LossImpl>;

class HuberLossOptions {
  KEYWAY_OPTION(double, delta) = 1;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// (x - y)^2 / 2 below delta, delta (|x - y| - delta / 2) above.
class KEYWAY_API HuberLossImpl : public Module {
 public:
  explicit HuberLossImpl(HuberLossOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input, const Tensor& target);
  HuberLossOptions options;
};
using HuberLoss = ModuleHolder<HuberLossImpl>;

class KLDivLossOptions {
  KEYWAY_OPTION(bool, log_target) = false;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;  // or kBatchMean: the sum divided by the first size
};
// y (log(y) - x), of log-probabilities x and probabilities y, or their logarithms.
class KEYWAY_API KLDivLossImpl : public Module {
 public:
  explicit KLDivLossImpl(KLDivLossOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input, const Tensor& target);
  KLDivLossOptions options;
};
using KLDivLoss = ModuleHolder<KLDivLossImpl>;

class SoftMarginLossOptions {
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// Log(1 + exp(-y x)).
class KEYWAY_API SoftMarginLossImpl : public Module {
 public:
  explicit SoftMarginLossImpl(SoftMarginLossOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input, const Tensor& target);
  SoftMarginLossOptions options;
};
using SoftMarginLoss = ModuleHolder<SoftMarginLossImpl>;

class NLLLossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, ignore_index) = -100;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// -weight x of the target's class, of log-probabilities [batch, classes, ...].
class KEYWAY_API NLLLossImpl : public Module {
 public:
  explicit NLLLossImpl(NLLLossOptions options = {});
  Tensor forward(const Tensor& input, const Tensor& target);
  NLLLossOptions options;
  Tensor weight;  // a buffer
};
using NLLLoss = ModuleHolder<NLLLossImpl>;

class CrossEntropyLossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, ignore_index) = -100;
  KEYWAY_OPTION(double, label_smoothing) = 0;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// The same of logits; targets are classes, or probabilities of each.
class KEYWAY_API CrossEntropyLossImpl : public Module {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options = {});
  Tensor forward(const Tensor& input, const Tensor& target);
  CrossEntropyLossOptions options;
  Tensor weight;  // a buffer
};
using CrossEntropyLoss = ModuleHolder<CrossEntropyLossImpl>;

class BCELossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// -weight (y log(x) + (1 - y) log(1 - x)), of probabilities.
class KEYWAY_API BCELossImpl : public Module {
 public:
  explicit BCELossImpl(BCELossOptions options = {});
  Tensor forward(const Tensor& input, const Tensor& target);
  BCELossOptions options;
  Tensor weight;  // a buffer
};
using BCELoss = ModuleHolder<BCELossImpl>;

class BCEWithLogitsLossOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(Tensor, pos_weight) = {};  // of the term of y
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// BCELoss of the sigmoid of the input, which keeps its digits.
class KEYWAY_API BCEWithLogitsLossImpl : public Module {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options = {});
  Tensor forward(const Tensor& input, const Tensor& target);
  BCEWithLogitsLossOptions options;
  Tensor weight, pos_weight;  // buffers
};
using BCEWithLogitsLoss = ModuleHolder<BCEWithLogitsLossImpl>;

}  // namespace keyway::inline v1::nn
