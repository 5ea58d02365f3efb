// Rows of a table, and bags of them.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/nn/option.h>
#include <keyway/tensor.h>

#include <optional>
#include <string>

namespace keyway::inline v1::nn::functional {

class EmbeddingBagFuncOptions {
  KEYWAY_OPTION(Tensor, offsets) = {};
  KEYWAY_OPTION(std::optional<double>, max_norm);
  KEYWAY_OPTION(double, norm_type) = 2;
  KEYWAY_OPTION(bool, scale_grad_by_freq) = false;
  KEYWAY_OPTION(std::string, mode) = "mean";
  KEYWAY_OPTION(Tensor, per_sample_weights) = {};
  KEYWAY_OPTION(bool, include_last_offset) = false;
  KEYWAY_OPTION(std::optional<std::int64_t>, padding_idx);
};
// The sum, mean or greatest elements of the rows of a table that each bag of indices names. Bags are the rows of
// indices [bags, size], or begin at `offsets` of indices [count], the last of which is the end with
// `include_last_offset`. `per_sample_weights` weigh rows before they are added up. The row `padding_idx` does not
// count. With `max_norm`, rows are shortened first. Throws keyway::Error for an unknown mode, and for tensors and
// options that do not fit each other.
KEYWAY_API Tensor embedding_bag(const Tensor& indices, const Tensor& weight,
                                const EmbeddingBagFuncOptions& options = {});

// Shortens the rows of `weight` that are named by indices, in place, to a `norm_type`-norm of at most `max_norm`.
KEYWAY_API void embedding_renorm_(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type = 2);

// Classes [...] of int64 to [..., num_classes] of int64: 1 at the class, 0 elsewhere. -1: as many classes as the
// largest one says. Throws keyway::Error for a class that is none of them.
KEYWAY_API Tensor one_hot(const Tensor& classes, std::int64_t num_classes = -1);

}  // namespace keyway::inline v1::nn::functional
