// Losses that are composed of operators.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/tensor/reduction.h>
#include <keyway/tensor.h>

#include <functional>

namespace keyway::inline v1::nn::functional {

// The cross entropy of sigmoid(input) and probabilities, averaged over the classes in the last dimension. `weight`, if
// defined, is that of each class.
KEYWAY_API Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                                              std::int64_t reduction = Reduction::Mean);

// max(0, margin + d(anchor, positive) - d(anchor, negative)) for a distance d of vectors in the last dimension, by
// default pairwise_distance; with `swap`, d(positive, negative) takes the place of the last if it is less. Throws
// keyway::Error for a margin that is not greater than 0, and for tensors of different numbers of dimensions.
KEYWAY_API Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const std::function<Tensor(const Tensor&, const Tensor&)>& distance_function = nullptr, double margin = 1,
    bool swap = false, std::int64_t reduction = Reduction::Mean);

// (log(var) + (input - target)^2 / var) / 2, where the variances count as `eps` at least; with `full`, half of log(2
// pi) is added. There is a variance for each element, or one for each vector in the last dimension or another one,
// where their size is 1. Throws keyway::Error for variances of another shape, and for negative ones.
KEYWAY_API Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full = false,
                                    double eps = 1e-6, std::int64_t reduction = Reduction::Mean);

// Minus the log-probability of all ways to read a sequence of labels out of log_probs [time, batch, classes], or [time,
// classes], of log_softmax, where equal labels in a row are one unless a `blank` is between them, and blanks are left
// out (Graves et al., 2006). `targets` are [batch, labels], or one behind the other; the first `input_lengths` elements
// and `target_lengths` labels of each count, integers [batch]. The mean divides each loss by its number of labels
// first. A loss is infinite where the input is too short; with `zero_infinity` it is zero, as is its gradient. The
// gradient is that by what log_softmax was given. Throws keyway::Error for lengths and labels that do not fit.
KEYWAY_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                           const Tensor& target_lengths, std::int64_t blank = 0,
                           std::int64_t reduction = Reduction::Mean, bool zero_infinity = false);

}  // namespace keyway::inline v1::nn::functional
