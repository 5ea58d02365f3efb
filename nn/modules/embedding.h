// Embedding: a table of vectors, looked up by index. EmbeddingBag: sums, means or greatest elements of bags of them.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <optional>
#include <string>

namespace keyway::inline v1::nn {

class KEYWAY_API EmbeddingOptions {
 public:
  EmbeddingOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  KEYWAY_OPTION(std::int64_t, num_embeddings);
  KEYWAY_OPTION(std::int64_t, embedding_dim);
  // The row of this index begins as zeros and gets no gradient.
  KEYWAY_OPTION(std::optional<std::int64_t>, padding_idx);
  // Rows that are looked up and longer are shortened to this norm first, in the table.
  KEYWAY_OPTION(std::optional<double>, max_norm);
  KEYWAY_OPTION(double, norm_type) = 2;
  // Gradients are divided by how often a row was looked up.
  KEYWAY_OPTION(bool, scale_grad_by_freq) = false;
};

class KEYWAY_API EmbeddingBagOptions {
 public:
  EmbeddingBagOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  KEYWAY_OPTION(std::int64_t, num_embeddings);
  KEYWAY_OPTION(std::int64_t, embedding_dim);
  KEYWAY_OPTION(std::optional<std::int64_t>, padding_idx);  // its row begins as zeros and does not count
  KEYWAY_OPTION(std::optional<double>, max_norm);
  KEYWAY_OPTION(double, norm_type) = 2;
  KEYWAY_OPTION(bool, scale_grad_by_freq) = false;
  KEYWAY_OPTION(std::string, mode) = "mean";         // or "sum" or "max"
  KEYWAY_OPTION(bool, include_last_offset) = false;  // the last offset is the end of the last bag
};

// What both share: a weight [num_embeddings, embedding_dim] that begins normal with variance 1.
template <typename Options>
class KEYWAY_API EmbeddingBase : public Module {
 public:
  // Throws keyway::Error for a padding_idx that is no row.
  EmbeddingBase(Options options, const char* what);
  void reset_parameters();
  Options options;
  Tensor weight;
};

class KEYWAY_API EmbeddingImpl : public EmbeddingBase<EmbeddingOptions> {
 public:
  EmbeddingImpl(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options_) : EmbeddingBase(options_, "Embedding") {}
  // [...] of int64 or int32 to [..., embedding_dim].
  Tensor forward(const Tensor& indices);
  void pretty_print(std::ostream& stream) const override;
};
using Embedding = ModuleHolder<EmbeddingImpl>;

class KEYWAY_API EmbeddingBagImpl : public EmbeddingBase<EmbeddingBagOptions> {
 public:
  EmbeddingBagImpl(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_) : EmbeddingBase(std::move(options_), "EmbeddingBag") {}
  // Bags are the rows of indices [bags, size], or begin at the `offsets` that are given with indices [count];
  // `per_sample_weights`, of the indices' shape and for mode "sum", weigh rows before they are added up. Returns [bags,
  // embedding_dim].
  Tensor forward(const Tensor& indices, const Tensor& offsets = {}, const Tensor& per_sample_weights = {});
};
using EmbeddingBag = ModuleHolder<EmbeddingBagImpl>;

}  // namespace keyway::inline v1::nn
