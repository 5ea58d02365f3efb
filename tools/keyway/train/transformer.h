// Transformer: a decoder of characters. Each block attends to the characters before, then thinks about what it saw;
// both read a normalised copy of the stream and add to it.
#pragma once

#include <keyway/nn/nn.h>
#include <keyway/tools/keyway/train/corpus.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::tools {

struct TransformerOptions {
  std::int64_t alphabet = 0;  // how many characters there are
  std::int64_t context = 128;
  std::int64_t width = 128;
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  double dropout = 0;
  bool tied_head = true;  // the table of characters is the output layer as well
};

class AttentionImpl : public nn::Module {
 public:
  explicit AttentionImpl(const TransformerOptions& options);
  // [batch, time, width] to the same.
  Tensor forward(const Tensor& x);

 private:
  std::int64_t heads_;
  nn::Linear to_heads_, from_heads_;
  nn::Dropout drop_result_;
};
using Attention = nn::ModuleHolder<AttentionImpl>;

class BlockImpl : public nn::Module {
 public:
  explicit BlockImpl(const TransformerOptions& options);
  Tensor forward(const Tensor& x);

 private:
  nn::LayerNorm norm_attention_;
  Attention attention_;
  nn::Sequential thought_;
};
using Block = nn::ModuleHolder<BlockImpl>;

class TransformerImpl : public nn::Module {
 public:
  // Throws keyway::Error if the heads do not divide the width.
  explicit TransformerImpl(const TransformerOptions& options);

  // Characters [batch, time] of int64, time at most the context, to logits [batch, time, alphabet].
  Tensor forward(const Tensor& characters);

  const TransformerOptions& options() const { return options_; }
  std::int64_t parameter_count() const;
  // Where its parameters are, and where it wants characters.
  Device device() const { return characters_->weight.device(); }

 private:
  void reset_parameters();

  TransformerOptions options_;
  nn::Embedding characters_, positions_;
  nn::Dropout drop_;
  std::vector<Block> blocks_;
  nn::LayerNorm norm_;
  nn::Linear head_{nullptr};  // none if it is tied
};
using Transformer = nn::ModuleHolder<TransformerImpl>;

// Characters as a tensor [rows, row_size] of int64 on a device.
Tensor to_tensor(Characters characters, std::int64_t row_size, Device device = kCPU);

// Mean loss of the held-out characters, in nats a character: each is predicted once, from half a context at least but
// for the first ones. With `most_windows`, only of so many windows, spread evenly.
double held_out_loss(Transformer model, const Corpus& corpus, std::size_t most_windows = SIZE_MAX);

// `count` characters that go on from `prompt`, drawn with probabilities p^(1/temperature).
std::vector<std::uint8_t> generate(Transformer model, std::vector<std::uint8_t> prompt, std::size_t count,
                                   double temperature);

}  // namespace keyway::inline v1::tools
