// MultiheadAttention: values weighed by how queries and keys agree, for several heads at once (Vaswani et al.,
// "Attention Is All You Need", 2017).
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/option.h>

#include <optional>
#include <tuple>

namespace keyway::inline v1::nn {

class MultiheadAttentionOptions {
 public:
  MultiheadAttentionOptions(std::int64_t embed_dim, std::int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads) {}
  KEYWAY_OPTION(std::int64_t, embed_dim);
  KEYWAY_OPTION(std::int64_t, num_heads);
  KEYWAY_OPTION(double, dropout) = 0;
  KEYWAY_OPTION(bool, bias) = true;
  KEYWAY_OPTION(bool, add_bias_kv) = false;    // a learned key and value behind all others
  KEYWAY_OPTION(bool, add_zero_attn) = false;  // and one of zeros
  // Widths of keys and values; absent: embed_dim.
  KEYWAY_OPTION(std::optional<std::int64_t>, kdim);
  KEYWAY_OPTION(std::optional<std::int64_t>, vdim);
  KEYWAY_OPTION(bool, batch_first) = false;
};

// What a call may be given besides its three sequences. Where a mask of bools holds, a key is not looked at; masks of
// numbers are added.
class MultiheadAttentionForwardOptions {
  KEYWAY_OPTION(Tensor, key_padding_mask) = {};  // [batch, keys], or [keys]
  KEYWAY_OPTION(Tensor, attn_mask) = {};         // [queries, keys], or [batch * heads, queries, keys]
  KEYWAY_OPTION(bool, need_weights) = true;
  KEYWAY_OPTION(bool, average_attn_weights) = true;
};

// in_proj_weight [3 * embed_dim, embed_dim] gives queries, keys and values; where widths differ, q_proj_weight,
// k_proj_weight and v_proj_weight do. in_proj_bias is [3 * embed_dim], bias_k and bias_v [1, 1, embed_dim]. Weights
// begin as xavier_uniform_ makes them, biases as zeros.
class KEYWAY_API MultiheadAttentionImpl : public Module {
 public:
  MultiheadAttentionImpl(std::int64_t embed_dim, std::int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  // Throws keyway::Error if num_heads does not divide embed_dim.
  explicit MultiheadAttentionImpl(MultiheadAttentionOptions options);

  void reset_parameters();
  // Sequences are [length, batch, width], [batch, length, width] if batch_first, or [length, width]. Returns the
  // result, shaped like query, and the weights of the keys if they are needed (else undefined): their mean over heads,
  // [batch, queries, keys], or those of each, [batch, heads, queries, keys]; without batch if the sequences are.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const MultiheadAttentionForwardOptions& more = {});

  MultiheadAttentionOptions options;
  Tensor in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, bias_k, bias_v;
  Linear out_proj{nullptr};

 private:
  struct Heads;  // queries, keys and values
  Heads project(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Tensor mask_of(const Heads& heads, const MultiheadAttentionForwardOptions& more, std::int64_t given) const;
};
using MultiheadAttention = ModuleHolder<MultiheadAttentionImpl>;

}  // namespace keyway::inline v1::nn
