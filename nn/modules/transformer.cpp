#include <keyway/nn/modules/transformer.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

namespace {

LayerNorm norm_of(const TransformerLayerOptions& options) {
  return LayerNorm(LayerNormOptions({options.d_model()}).eps(options.layer_norm_eps()));
}

template <typename Layer>
ModuleList stacked(const TransformerStackOptions& options) {
  ModuleList layers;
  for (std::int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(Layer(options.layer()));
  return layers;
}

}  // namespace

TransformerLayerBase::TransformerLayerBase(TransformerLayerOptions options_) : options(std::move(options_)) {
  if (!options.activation()) options.activation([](const Tensor& x) { return relu(x); });
  self_attn = register_module("self_attn", make_attention());
  linear1 = register_module("linear1", Linear(options.d_model(), options.dim_feedforward()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), options.d_model()));
  norm1 = register_module("norm1", make_norm());
  norm2 = register_module("norm2", make_norm());
  dropout = register_module("dropout", Dropout(options.dropout()));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
}

MultiheadAttention TransformerLayerBase::make_attention() const {
  return MultiheadAttention(MultiheadAttentionOptions(options.d_model(), options.nhead())
                                .dropout(options.dropout())
                                .batch_first(options.batch_first()));
}

LayerNorm TransformerLayerBase::make_norm() const { return norm_of(options); }

Tensor TransformerLayerBase::step(const Tensor& x, const LayerNorm& norm, const Dropout& drop,
                                  const std::function<Tensor(const Tensor&)>& branch) const {
  return options.norm_first() ? x + drop(branch(norm(x))) : norm(x + drop(branch(x)));
}

Tensor TransformerLayerBase::attend(const MultiheadAttention& attention, const Tensor& x, const Tensor& memory,
                                    const Tensor& mask, const Tensor& padding) const {
  const auto more = MultiheadAttentionForwardOptions().attn_mask(mask).key_padding_mask(padding).need_weights(false);
  return std::get<0>(attention(x, memory, memory, more));
}

Tensor TransformerLayerBase::feed(const Tensor& x) const { return linear2(dropout(options.activation()(linear1(x)))); }

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  const auto look_around = [&](const Tensor& x) { return attend(self_attn, x, x, src_mask, src_key_padding_mask); };
  const Tensor attended = step(src, norm1, dropout1, look_around);
  return step(attended, norm2, dropout2, [&](const Tensor& x) { return feed(x); });
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_)
    : TransformerLayerBase(std::move(options_)) {
  multihead_attn = register_module("multihead_attn", make_attention());
  norm3 = register_module("norm3", make_norm());
  dropout3 = register_module("dropout3", Dropout(options.dropout()));
}

Tensor TransformerDecoderLayerImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask,
                                            const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  const auto look_around = [&](const Tensor& x) { return attend(self_attn, x, x, tgt_mask, tgt_key_padding_mask); };
  const auto look_up = [&](const Tensor& x) {
    return attend(multihead_attn, x, memory, memory_mask, memory_key_padding_mask);
  };
  const Tensor attended = step(tgt, norm1, dropout1, look_around), found = step(attended, norm2, dropout2, look_up);
  return step(found, norm3, dropout3, [&](const Tensor& x) { return feed(x); });
}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_)
    : options(std::move(options_)), layers(register_module("layers", stacked<TransformerEncoderLayer>(options))) {
  if (options.norm()) norm = register_module("norm", norm_of(options.layer()));
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  Tensor x = src;
  for (std::size_t i = 0; i < layers->size(); ++i) {
    x = layers->at<TransformerEncoderLayerImpl>(i).forward(x, src_mask, src_key_padding_mask);
  }
  return norm.is_empty() ? x : norm(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_)
    : options(std::move(options_)), layers(register_module("layers", stacked<TransformerDecoderLayer>(options))) {
  if (options.norm()) norm = register_module("norm", norm_of(options.layer()));
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask,
                                       const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  Tensor x = tgt;
  for (std::size_t i = 0; i < layers->size(); ++i) {
    x = layers->at<TransformerDecoderLayerImpl>(i).forward(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                                                           memory_key_padding_mask);
  }
  return norm.is_empty() ? x : norm(x);
}

}  // namespace keyway::inline v1::nn
