#include <keyway/nn/init.h>
#include <keyway/nn/modules/embedding.h>
#include <keyway/ops/all.h>

#include <ostream>

namespace keyway::inline v1::nn {

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(options_) {
  if (const auto padding = options.padding_idx()) {
    const std::int64_t rows = options.num_embeddings();
    KEYWAY_CHECK(*padding >= -rows && *padding < rows, "padding_idx is {}, but there are {} embeddings", *padding,
                 rows);
    options.padding_idx(*padding < 0 ? *padding + rows : *padding);
  }
  weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
  reset_parameters();
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (options.padding_idx()) init::zeros_(weight.detach().select(0, *options.padding_idx()));
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return embedding(weight, indices, options.padding_idx().value_or(-1));
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "Embedding(num_embeddings=" << options.num_embeddings() << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  stream << ")";
}

}  // namespace keyway::inline v1::nn
