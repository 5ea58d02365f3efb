#include <keyway/nn/functional/embedding.h>
#include <keyway/nn/init.h>
#include <keyway/nn/modules/embedding.h>
#include <keyway/ops/all.h>

#include <ostream>

namespace keyway::inline v1::nn {

template <typename Options>
EmbeddingBase<Options>::EmbeddingBase(Options options_, const char* what) : options(std::move(options_)) {
  const std::int64_t rows = options.num_embeddings();
  if (const auto padding = options.padding_idx()) {
    KEYWAY_CHECK(*padding >= -rows && *padding < rows, "{}: padding_idx is {}, but there are {} embeddings", what,
                 *padding, rows);
    options.padding_idx(*padding < 0 ? *padding + rows : *padding);
  }
  weight = register_parameter("weight", empty({rows, options.embedding_dim()}));
  reset_parameters();
}

template <typename Options>
void EmbeddingBase<Options>::reset_parameters() {
  init::normal_(weight);
  if (options.padding_idx()) init::zeros_(weight.detach().select(0, *options.padding_idx()));
}

template class EmbeddingBase<EmbeddingOptions>;
template class EmbeddingBase<EmbeddingBagOptions>;

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  if (options.max_norm()) functional::embedding_renorm_(weight, indices, *options.max_norm(), options.norm_type());
  return embedding(weight, indices, options.padding_idx().value_or(-1), options.scale_grad_by_freq());
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "Embedding(num_embeddings=" << options.num_embeddings() << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  stream << ")";
}

Tensor EmbeddingBagImpl::forward(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights) {
  const auto more = functional::EmbeddingBagFuncOptions()
                        .offsets(offsets)
                        .max_norm(options.max_norm())
                        .norm_type(options.norm_type())
                        .scale_grad_by_freq(options.scale_grad_by_freq())
                        .mode(options.mode())
                        .per_sample_weights(per_sample_weights)
                        .include_last_offset(options.include_last_offset())
                        .padding_idx(options.padding_idx());
  return functional::embedding_bag(indices, weight, more);
}

}  // namespace keyway::inline v1::nn
