// What modules compute, as functions: operators under their own names, and losses and layers with options.
//
//   namespace F = keyway::nn::functional;
//   Tensor loss = F::cross_entropy(logits, target, F::CrossEntropyFuncOptions().label_smoothing(0.1));
#pragma once

#include <keyway/core/tensor/reduction.h>
#include <keyway/nn/functional/activation.h>
#include <keyway/nn/functional/dropout.h>
#include <keyway/nn/functional/embedding.h>
#include <keyway/nn/functional/loss.h>
#include <keyway/nn/functional/normalization.h>
#include <keyway/nn/functional/pooling.h>
#include <keyway/nn/functional/vision.h>
#include <keyway/nn/option.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::nn::functional {

using keyway::adaptive_avg_pool1d;
using keyway::adaptive_avg_pool2d;
using keyway::adaptive_avg_pool3d;
using keyway::adaptive_max_pool1d;
using keyway::adaptive_max_pool2d;
using keyway::adaptive_max_pool3d;
using keyway::avg_pool1d;
using keyway::avg_pool2d;
using keyway::avg_pool3d;
using keyway::bilinear;
using keyway::binary_cross_entropy;
using keyway::binary_cross_entropy_with_logits;
using keyway::celu;
using keyway::channel_shuffle;
using keyway::conv1d;
using keyway::conv2d;
using keyway::conv3d;
using keyway::conv_transpose1d;
using keyway::conv_transpose2d;
using keyway::conv_transpose3d;
using keyway::cosine_embedding_loss;
using keyway::cosine_similarity;
using keyway::elu;
using keyway::gelu;
using keyway::glu;
using keyway::group_norm;
using keyway::hardshrink;
using keyway::hardsigmoid;
using keyway::hardswish;
using keyway::hardtanh;
using keyway::hinge_embedding_loss;
using keyway::huber_loss;
using keyway::kl_div;
using keyway::l1_loss;
using keyway::leaky_relu;
using keyway::linear;
using keyway::log_softmax;
using keyway::margin_ranking_loss;
using keyway::max_pool1d;
using keyway::max_pool1d_with_indices;
using keyway::max_pool2d;
using keyway::max_pool2d_with_indices;
using keyway::max_pool3d;
using keyway::max_pool3d_with_indices;
using keyway::mish;
using keyway::mse_loss;
using keyway::multi_margin_loss;
using keyway::multilabel_margin_loss;
using keyway::pad;
using keyway::pairwise_distance;
using keyway::pdist;
using keyway::pixel_shuffle;
using keyway::pixel_unshuffle;
using keyway::poisson_nll_loss;
using keyway::prelu;
using keyway::relu;
using keyway::rms_norm;
using keyway::scaled_dot_product_attention;
using keyway::selu;
using keyway::sigmoid;
using keyway::silu;
using keyway::smooth_l1_loss;
using keyway::soft_margin_loss;
using keyway::softmax;
using keyway::softplus;
using keyway::softshrink;
using keyway::tanh;
using keyway::threshold;
using keyway::triplet_margin_loss;

inline Tensor relu6(const Tensor& input) { return keyway::hardtanh(input, 0, 6); }
inline Tensor logsigmoid(const Tensor& input) { return keyway::log_sigmoid(input); }

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
// `input` holds log-probabilities, [batch, classes, ...] or [classes]; `target` classes, int64, [batch, ...] or [].
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {}) {
  return keyway::nll_loss_nd(input, target, if_defined(options.weight()), options.reduction(), options.ignore_index());
}

class CrossEntropyFuncOptions {
  KEYWAY_OPTION(Tensor, weight) = {};
  KEYWAY_OPTION(std::int64_t, ignore_index) = -100;
  KEYWAY_OPTION(std::int64_t, reduction) = Reduction::Mean;
  KEYWAY_OPTION(double, label_smoothing) = 0;
};
// `input` holds logits, [batch, classes, ...] or [classes]; `target` classes, int64, [batch, ...] or [], or
// probabilities of the shape of `input`.
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {}) {
  return keyway::cross_entropy_loss(input, target, if_defined(options.weight()), options.reduction(),
                                    options.ignore_index(), options.label_smoothing());
}

}  // namespace keyway::inline v1::nn::functional
