#include <keyway/core/random/thread_seed.h>
#include <keyway/nn/init.h>
#include <keyway/nn/modules/transformer.h>
#include <keyway/ops/all.h>

#include <limits>

namespace keyway::inline v1::nn {

namespace {

LayerNorm norm_of(const TransformerLayerOptions& options) {
  return LayerNorm(LayerNormOptions({options.d_model()}).eps(options.layer_norm_eps()).bias(options.bias()));
}

template <typename Layer>
ModuleList stacked(const TransformerStackOptions& options) {
  ModuleList layers;
  const Layer first(options.layer());
  const ThreadSeed aside(0);  // copies draw nothing from the generators, as in Python
  for (std::int64_t i = 0; i < options.num_layers(); ++i) {
    const Layer layer = i == 0 ? first : Layer(options.layer());
    if (i > 0) layer->load_state_dict(first->state_dict());
    layers->push_back(layer);
  }
  return layers;
}

}  // namespace

TransformerLayerBase::TransformerLayerBase(TransformerLayerOptions options_, bool decodes)
    : options(std::move(options_)) {
  if (!options.activation()) options.activation([](const Tensor& x) { return relu(x); });
  const std::int64_t width = options.d_model(), inner = options.dim_feedforward();
  const auto attention = [&](const char* name) {
    return register_module(name, MultiheadAttention(MultiheadAttentionOptions(width, options.nhead())
                                                        .dropout(options.dropout())
                                                        .bias(options.bias())
                                                        .batch_first(options.batch_first())));
  };
  const auto norm = [&](const char* name) { return register_module(name, norm_of(options)); };
  const auto drop = [&](const char* name) { return register_module(name, Dropout(options.dropout())); };
  self_attn = attention("self_attn");
  if (decodes) multihead_attn = attention("multihead_attn");
  linear1 = register_module("linear1", Linear(LinearOptions(width, inner).bias(options.bias())));
  dropout = drop("dropout");
  linear2 = register_module("linear2", Linear(LinearOptions(inner, width).bias(options.bias())));
  norm1 = norm("norm1");
  norm2 = norm("norm2");
  if (decodes) norm3 = norm("norm3");
  dropout1 = drop("dropout1");
  dropout2 = drop("dropout2");
  if (decodes) dropout3 = drop("dropout3");
}

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

template <typename Layer>
TransformerStack<Layer>::TransformerStack(TransformerStackOptions options_)
    : options(std::move(options_)), layers(register_module("layers", stacked<ModuleHolder<Layer>>(options))) {
  if (options.norm()) norm = register_module("norm", norm_of(options.layer()));
}
template class TransformerStack<TransformerEncoderLayerImpl>;
template class TransformerStack<TransformerDecoderLayerImpl>;

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  return run(src, src_mask, src_key_padding_mask);
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask,
                                       const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  return run(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

TransformerImpl::TransformerImpl(TransformerOptions options_) : options(std::move(options_)) {
  const auto layer = TransformerLayerOptions(options.d_model(), options.nhead())
                         .dim_feedforward(options.dim_feedforward())
                         .dropout(options.dropout())
                         .activation(options.activation())
                         .layer_norm_eps(options.layer_norm_eps())
                         .batch_first(options.batch_first())
                         .norm_first(options.norm_first())
                         .bias(options.bias());
  const auto stack = [&](std::int64_t count) { return TransformerStackOptions(layer, count).norm(true); };
  encoder = register_module("encoder", TransformerEncoder(stack(options.num_encoder_layers())));
  decoder = register_module("decoder", TransformerDecoder(stack(options.num_decoder_layers())));
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& parameter : parameters()) {
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
  }
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask, const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask) {
  const std::int64_t batch = options.batch_first() ? 0 : 1, width = options.d_model();
  KEYWAY_CHECK(src.dim() != 3 || tgt.dim() != 3 || src.size(batch) == tgt.size(batch),
               "Transformer: the batches of src and tgt have {} and {} sequences, but must have as many",
               src.size(batch), tgt.size(batch));
  KEYWAY_CHECK(src.size(-1) == width && tgt.size(-1) == width,
               "Transformer: src and tgt have width {} and {}, but must have d_model, {}", src.size(-1), tgt.size(-1),
               width);
  const Tensor memory = encoder(src, src_mask, src_key_padding_mask);
  return decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(std::int64_t size) {
  return full({size, size}, -std::numeric_limits<double>::infinity(), kFloat).triu(1);
}

}  // namespace keyway::inline v1::nn
