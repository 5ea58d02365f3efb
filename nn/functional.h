// What modules compute, as functions: operators under their own names, and losses and layers with options.
//
//   namespace F = keyway::nn::functional;
//   Tensor loss = F::cross_entropy(logits, target, F::CrossEntropyFuncOptions().label_smoothing(0.1));
#pragma once

#include <keyway/core/reduction.h>
#include <keyway/nn/option.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::nn::functional {

using keyway::gelu;
using keyway::linear;
using keyway::log_softmax;
using keyway::relu;
using keyway::sigmoid;
using keyway::silu;
using keyway::softmax;
using keyway::tanh;

inline Tensor embedding(const Tensor& indices, const Tensor& weight) { return keyway::embedding(weight, indices); }

class DropoutFuncOptions {
  KEYWAY_OPTION(double, p) = 0.5;
  KEYWAY_OPTION(bool, training) = true;
};
inline Tensor dropout(const Tensor& input, const DropoutFuncOptions& options = {}) {
  return keyway::dropout(input, options.p(), options.training());
}

class LayerNormFuncOptions {
 public:
  LayerNormFuncOptions(std::vector<std::int64_t> normalized_shape)  // NOLINT
      : normalized_shape_(std::move(normalized_shape)) {}
  KEYWAY_OPTION(std::vector<std::int64_t>, normalized_shape);
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(Tensor, bias) = {};
  KEYWAY_OPTION(double, eps) = 1e-5;
};
inline Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return keyway::layer_norm(input, options.normalized_shape(), if_defined(options.weight()), if_defined(options.bias()),
                            options.eps());
}

class NLLLossFuncOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, ignore_index) = -100;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
};
// `input` holds log-probabilities, [batch, classes]; `target` classes, [batch].
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {}) {
  return keyway::nll_loss(input, target, if_defined(options.weight()), options.reduction(), options.ignore_index());
}

class CrossEntropyFuncOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, ignore_index) = -100;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
  KEYWAY_OPTION(double, label_smoothing) = 0;
};
// `input` holds logits, [batch, classes]; `target` classes, [batch].
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {}) {
  return keyway::cross_entropy_loss(input, target, if_defined(options.weight()), options.reduction(),
                                    options.ignore_index(), options.label_smoothing());
}

}  // namespace keyway::inline v1::nn::functional
