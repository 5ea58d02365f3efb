// Embedding: a table of vectors, looked up by index.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <optional>

namespace keyway::inline v1::nn {

class EmbeddingOptions {
 public:
  EmbeddingOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  KEYWAY_OPTION(std::int64_t, num_embeddings);
  KEYWAY_OPTION(std::int64_t, embedding_dim);
  // The row of this index begins as zeros and gets no gradient.
  KEYWAY_OPTION(std::optional<std::int64_t>, padding_idx);
};

// weight is [num_embeddings, embedding_dim] and begins normal with variance 1.
class KEYWAY_API EmbeddingImpl : public Module {
 public:
  EmbeddingImpl(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options);

  void reset_parameters();
  // [...] of int64 or int32 to [..., embedding_dim].
  Tensor forward(const Tensor& indices);
  void pretty_print(std::ostream& stream) const override;

  EmbeddingOptions options;
  Tensor weight;
};
using Embedding = ModuleHolder<EmbeddingImpl>;

}  // namespace keyway::inline v1::nn
