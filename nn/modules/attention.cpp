#include <keyway/nn/init.h>
#include <keyway/nn/modules/attention.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <cmath>
#include <limits>

namespace keyway::inline v1::nn {

namespace {

// A mask to be added to scores: minus infinity where one of bools holds.
Tensor as_scores(const Tensor& mask, ScalarType dtype) {
  if (!mask.defined() || mask.dtype() != kBool) return mask;
  const Tensor zero = zeros(mask.sizes(), TensorOptions(mask.device()).dtype(dtype));
  return zero.masked_fill_(mask, -std::numeric_limits<double>::infinity());
}

// [length, batch, embed_dim] to [batch, heads, length, head].
Tensor of_heads(const Tensor& projected, std::int64_t heads) {
  return projected.unflatten(-1, {heads, projected.size(-1) / heads}).permute({1, 2, 0, 3});
}

// A sequence [length, batch, width] and behind it a row [1, 1, width].
Tensor with_row(const Tensor& sequence, const Tensor& row) {
  if (!row.defined()) return sequence;
  return cat({sequence, row.expand({1, sequence.size(1), -1})});
}

}  // namespace

struct MultiheadAttentionImpl::Heads {
  Tensor q, k, v;
};

MultiheadAttentionImpl::MultiheadAttentionImpl(MultiheadAttentionOptions options_) : options(options_) {
  const std::int64_t embed = options.embed_dim(), heads = options.num_heads();
  KEYWAY_CHECK(embed > 0 && heads > 0 && embed % heads == 0, "MultiheadAttention: {} heads do not divide embed_dim {}",
               heads, embed);
  const std::int64_t keys = options.kdim().value_or(embed), values = options.vdim().value_or(embed);
  const bool together = keys == embed && values == embed;
  const auto make = [&](const char* name, bool is_there, IntArrayRef sizes) {
    return register_parameter(name, is_there ? empty(sizes) : Tensor());
  };
  in_proj_weight = make("in_proj_weight", together, {3 * embed, embed});
  q_proj_weight = make("q_proj_weight", !together, {embed, embed});
  k_proj_weight = make("k_proj_weight", !together, {embed, keys});
  v_proj_weight = make("v_proj_weight", !together, {embed, values});
  in_proj_bias = make("in_proj_bias", options.bias(), {3 * embed});
  out_proj = register_module("out_proj", Linear(LinearOptions(embed, embed).bias(options.bias())));
  bias_k = make("bias_k", options.add_bias_kv(), {1, 1, embed});
  bias_v = make("bias_v", options.add_bias_kv(), {1, 1, embed});
  reset_parameters();
}

void MultiheadAttentionImpl::reset_parameters() {
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
    if (weight.defined()) init::xavier_uniform_(weight);
  }
  if (options.bias()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  for (const Tensor& row : {bias_k, bias_v}) {
    if (row.defined()) init::xavier_normal_(row);
  }
}

MultiheadAttentionImpl::Heads MultiheadAttentionImpl::project(const Tensor& query, const Tensor& key,
                                                              const Tensor& value) const {
  const auto third = [&](const Tensor& all, std::int64_t i) {
    return all.defined() ? all.narrow(0, i * options.embed_dim(), options.embed_dim()) : Tensor();
  };
  const auto projected = [&](const Tensor& sequence, const Tensor& own, std::int64_t i) {
    return linear(sequence, own.defined() ? own : third(in_proj_weight, i), if_defined(third(in_proj_bias, i)));
  };
  Heads heads{projected(query, q_proj_weight, 0), with_row(projected(key, k_proj_weight, 1), bias_k),
              with_row(projected(value, v_proj_weight, 2), bias_v)};
  for (Tensor* part : {&heads.q, &heads.k, &heads.v}) *part = of_heads(*part, options.num_heads());
  if (options.add_zero_attn()) {
    heads.k = constant_pad_nd(heads.k, {0, 0, 0, 1});
    heads.v = constant_pad_nd(heads.v, {0, 0, 0, 1});
  }
  return heads;
}

// What is added to scores [batch, heads, queries, keys], of which `given` keys are the caller's. Undefined: nothing.
Tensor MultiheadAttentionImpl::mask_of(const Heads& heads, const MultiheadAttentionForwardOptions& more,
                                       std::int64_t given) const {
  const std::int64_t batch = heads.q.size(0), queries = heads.q.size(2), count = options.num_heads();
  Tensor mask = as_scores(more.attn_mask(), heads.q.dtype());
  if (mask.defined()) {
    const IntArrayRef sizes = mask.sizes();
    KEYWAY_CHECK(sizes == IntArrayRef({queries, given}) || sizes == IntArrayRef({batch * count, queries, given}),
                 "MultiheadAttention: attn_mask has shape {}, but must have [{}, {}] or [{}, {}, {}]", sizes, queries,
                 given, batch * count, queries, given);
    if (mask.dim() == 3) mask = mask.unflatten(0, {batch, count});
  }
  Tensor padding = as_scores(more.key_padding_mask(), heads.q.dtype());
  if (padding.defined()) {
    if (padding.dim() == 1) padding = padding.unsqueeze(0);
    KEYWAY_CHECK(padding.sizes() == IntArrayRef({batch, given}),
                 "MultiheadAttention: key_padding_mask has shape {}, but must have [{}, {}]", padding.sizes(), batch,
                 given);
    padding = padding.reshape({batch, 1, 1, given});
    mask = mask.defined() ? mask + padding : padding;
  }
  return mask.defined() ? constant_pad_nd(mask, {0, heads.k.size(2) - given}) : mask;
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                           const MultiheadAttentionForwardOptions& more) {
  const std::int64_t dims = query.dim();
  KEYWAY_CHECK((dims == 2 || dims == 3) && key.dim() == dims && value.dim() == dims,
               "MultiheadAttention: query, key and value have 2 dimensions each, or 3, not {}, {} and {}", dims,
               key.dim(), value.dim());
  const auto in_order = [&](const Tensor& sequence) {  // [length, batch, width]
    if (dims == 2) return sequence.unsqueeze(1);
    return options.batch_first() ? sequence.transpose(0, 1) : sequence;
  };
  const Tensor q = in_order(query), k = in_order(key), v = in_order(value);
  const Heads heads = project(q, k, v);
  const std::int64_t length = dims == 3 && options.batch_first() ? 1 : 0;
  const Tensor mask = mask_of(heads, more, key.size(length));
  const double dropped = is_training() ? options.dropout() : 0;
  Tensor weights, mixed;
  if (more.need_weights()) {
    const double factor = 1 / std::sqrt(static_cast<double>(heads.q.size(-1)));
    const Tensor scores = matmul(heads.q.mul(factor), heads.k.transpose(-2, -1));
    weights = dropout((mask.defined() ? scores + mask : scores).softmax(-1), dropped, is_training());
    mixed = matmul(weights, heads.v);
    if (more.average_attn_weights()) weights = weights.mean(IntArrayRef({1}));
    if (dims == 2) weights = weights.squeeze(0);
  } else {
    mixed = scaled_dot_product_attention(heads.q, heads.k, heads.v, if_defined(mask), dropped);
  }
  const Tensor result = out_proj(mixed.permute({2, 0, 1, 3}).flatten(2));
  if (dims == 2) return {result.squeeze(1), weights};
  return {options.batch_first() ? result.transpose(0, 1) : result, weights};
}

}  // namespace keyway::inline v1::nn
