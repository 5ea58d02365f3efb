// Layers of transformers, stacks of them, and transformers (Vaswani et al., "Attention Is All You Need", 2017).
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/modules/attention.h>
#include <keyway/nn/modules/dropout.h>
#include <keyway/nn/modules/layer_norm.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/modules/module_list.h>
#include <keyway/nn/option.h>

#include <functional>

namespace keyway::inline v1::nn {

// Of a layer that encodes or decodes sequences [length, batch, d_model], [batch, length, d_model] if batch_first.
class TransformerLayerOptions {
 public:
  TransformerLayerOptions(std::int64_t d_model, std::int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  KEYWAY_OPTION(std::int64_t, d_model);
  KEYWAY_OPTION(std::int64_t, nhead);
  KEYWAY_OPTION(std::int64_t, dim_feedforward) = 2048;
  KEYWAY_OPTION(double, dropout) = 0.1;
  KEYWAY_OPTION(std::function<Tensor(const Tensor&)>, activation) = nullptr;  // relu
  KEYWAY_OPTION(double, layer_norm_eps) = 1e-5;
  KEYWAY_OPTION(bool, batch_first) = false;
  KEYWAY_OPTION(bool, norm_first) = false;
  KEYWAY_OPTION(bool, bias) = true;  // in linear layers, attentions and normalisations
};
using TransformerEncoderLayerOptions = TransformerLayerOptions;
using TransformerDecoderLayerOptions = TransformerLayerOptions;

// Attentions, then two linear layers with `activation` between, each added to what it got and normalised; with
// norm_first normalised before instead.
class KEYWAY_API TransformerLayerBase : public Module {
 public:
  TransformerLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Linear linear1{nullptr}, linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr};
  Dropout dropout{nullptr}, dropout1{nullptr}, dropout2{nullptr};
  // Of layers that decode alone.
  MultiheadAttention multihead_attn{nullptr};
  LayerNorm norm3{nullptr};
  Dropout dropout3{nullptr};

 protected:
  TransformerLayerBase(TransformerLayerOptions options, bool decodes);
  // A branch, and what it is added to.
  Tensor step(const Tensor& x, const LayerNorm& norm, const Dropout& drop,
              const std::function<Tensor(const Tensor&)>& branch) const;
  Tensor attend(const MultiheadAttention& attention, const Tensor& x, const Tensor& memory, const Tensor& mask,
                const Tensor& padding) const;
  Tensor feed(const Tensor& x) const;
};

template <bool kDecodes>
class KEYWAY_API TransformerLayerOf : public TransformerLayerBase {
 public:
  TransformerLayerOf(std::int64_t d_model, std::int64_t nhead)
      : TransformerLayerOf(TransformerLayerOptions(d_model, nhead)) {}
  explicit TransformerLayerOf(TransformerLayerOptions options_) : TransformerLayerBase(std::move(options_), kDecodes) {}
};

// Masks are those of MultiheadAttention.
KEYWAY_MODULE(TransformerEncoderLayer, TransformerLayerOf</*kDecodes=*/false>,
              Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}));

// Looks up `memory`, what an encoder made, after it attended to itself.
KEYWAY_MODULE(TransformerDecoderLayer, TransformerLayerOf</*kDecodes=*/true>,
              Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                             const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                             const Tensor& memory_key_padding_mask = {}));

class TransformerStackOptions {
 public:
  TransformerStackOptions(TransformerLayerOptions layer, std::int64_t num_layers)
      : layer_(std::move(layer)), num_layers_(num_layers) {}
  KEYWAY_OPTION(TransformerLayerOptions, layer);
  KEYWAY_OPTION(std::int64_t, num_layers);
  KEYWAY_OPTION(bool, norm) = false;  // a LayerNorm behind the last layer
};
using TransformerEncoderOptions = TransformerStackOptions;
using TransformerDecoderOptions = TransformerStackOptions;

// num_layers layers with the same first values, one after the other.
template <typename Layer>
class KEYWAY_API TransformerStack : public Module {
 public:
  TransformerStack(TransformerLayerOptions layer, std::int64_t num_layers)
      : TransformerStack(TransformerStackOptions(std::move(layer), num_layers)) {}
  explicit TransformerStack(TransformerStackOptions options);

  TransformerStackOptions options;
  ModuleList layers;
  LayerNorm norm{nullptr};

 protected:
  // `more` is what each layer takes besides.
  template <typename... More>
  Tensor run(Tensor x, const More&... more) const {
    for (std::size_t i = 0; i < layers->size(); ++i) {
      x = layers->at<Layer>(i).forward(x, more...);
    }
    return norm.is_empty() ? x : norm(x);
  }
};

KEYWAY_MODULE(TransformerEncoder, TransformerStack<TransformerEncoderLayerImpl>,
              Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}));

KEYWAY_MODULE(TransformerDecoder, TransformerStack<TransformerDecoderLayerImpl>,
              Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                             const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                             const Tensor& memory_key_padding_mask = {}));

class TransformerOptions {
 public:
  TransformerOptions(std::int64_t d_model = 512, std::int64_t nhead = 8) : d_model_(d_model), nhead_(nhead) {}
  KEYWAY_OPTION(std::int64_t, d_model);
  KEYWAY_OPTION(std::int64_t, nhead);
  KEYWAY_OPTION(std::int64_t, num_encoder_layers) = 6;
  KEYWAY_OPTION(std::int64_t, num_decoder_layers) = 6;
  KEYWAY_OPTION(std::int64_t, dim_feedforward) = 2048;
  KEYWAY_OPTION(double, dropout) = 0.1;
  KEYWAY_OPTION(std::function<Tensor(const Tensor&)>, activation) = nullptr;  // relu
  KEYWAY_OPTION(double, layer_norm_eps) = 1e-5;
  KEYWAY_OPTION(bool, batch_first) = false;
  KEYWAY_OPTION(bool, norm_first) = false;
  KEYWAY_OPTION(bool, bias) = true;
};

// An encoder of `src` and a decoder of `tgt` that looks up what the encoder made. Parameters of two dimensions or more
// begin as xavier_uniform_ makes them.
class KEYWAY_API TransformerImpl : public Module {
 public:
  TransformerImpl(std::int64_t d_model, std::int64_t nhead) : TransformerImpl(TransformerOptions(d_model, nhead)) {}
  explicit TransformerImpl(TransformerOptions options = {});
  void reset_parameters();
  // Throws keyway::Error for sequences whose width is not d_model, and for batches of different sizes.
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  // [size, size]: minus infinity above the diagonal, 0 elsewhere.
  static Tensor generate_square_subsequent_mask(std::int64_t size);

  TransformerOptions options;
  TransformerEncoder encoder{nullptr};
  TransformerDecoder decoder{nullptr};
};
using Transformer = ModuleHolder<TransformerImpl>;

}  // namespace keyway::inline v1::nn
