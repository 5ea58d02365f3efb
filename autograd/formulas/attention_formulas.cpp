#include <keyway/autograd/formulas/add_term.h>
#include <keyway/autograd/helpers_attention.h>
#include <keyway/ops/all.h>

#include <optional>

namespace keyway::inline v1::autograd {

namespace {

// Keys or values, or their gradients, for each head of queries.
Tensor for_heads_of(const Tensor& query, const Tensor& shared) {
  const std::int64_t heads = query.size(1), given = shared.size(1);
  return given == heads ? shared : shared.repeat_interleave(heads / given, 1);
}

// Attention with its weights P in memory, and keys and values for each head of queries.
struct Attention {
  Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal,
            double scale)
      : served(key.size(1)), keys(for_heads_of(query, key)), values(for_heads_of(query, value)) {
    const auto mask = attn_mask.defined() ? std::optional<Tensor>(attn_mask) : std::nullopt;
    weights = std::get<1>(
        keyway::_scaled_dot_product_attention_math(query, key, value, mask, 0, is_causal, std::nullopt, scale, true));
  }

  // The gradient of scores, P (t - sum(P t)), where that of weights is `t`; of a symmetric matrix P - P^T P a row.
  Tensor through_softmax(const Tensor& t) const { return weights * (t - (weights * t).sum(-1, true)); }
  // What the heads of queries give back to keys or values.
  Tensor shared(const Tensor& each) const {
    return each.size(1) == served ? each : each.unflatten(1, {served, -1}).sum(2);
  }

  std::int64_t served;
  Tensor keys, values;
  Tensor weights;
};

Tensor transposed(const Tensor& matrices) { return matrices.transpose(-2, -1); }

}  // namespace

Tensor attention_mask_backward(const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                               const Tensor& attn_mask, bool is_causal, double scale) {
  const Attention of(query, key, value, attn_mask, is_causal, scale);
  return of.through_softmax(matmul(grad, transposed(of.values)));
}

// With G = grad_output, dP = G value^T and dS = P (dP - sum(P dP)), the results are scale dS key, scale dS^T query and
// P^T G. Their gradients a, b and c make w = scale (a key^T + query b^T) that of dS and G c^T that of P in the last
// one. dS is linear in dP, by a symmetric matrix, and depends on P.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> attention_double_backward(
    const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value, const Tensor& grad_output,
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal, double scale,
    ArrayRef<bool> needs) {
  const Attention of(query, key, value, attn_mask, is_causal, scale);
  const Tensor& p = of.weights;
  const Tensor dp = matmul(grad_output, transposed(of.values)), ds = of.through_softmax(dp);
  Tensor for_output, for_query, for_key, for_value, for_weights;
  if (grad_query.defined() || grad_key.defined()) {
    Tensor w;
    if (grad_query.defined()) {
      add_term(w, matmul(grad_query * scale, transposed(of.keys)));
      if (needs[2]) add_term(for_key, matmul(transposed(ds), grad_query * scale));
    }
    if (grad_key.defined()) {
      const Tensor b = for_heads_of(query, grad_key) * scale;
      add_term(w, matmul(query, transposed(b)));
      if (needs[1]) add_term(for_query, matmul(ds, b));
    }
    const Tensor for_dp = of.through_softmax(w);
    if (needs[0]) add_term(for_output, matmul(for_dp, of.values));
    if (needs[3]) add_term(for_value, matmul(transposed(for_dp), grad_output));
    add_term(for_weights, w * (dp - (p * dp).sum(-1, true)) - dp * (p * w).sum(-1, true));
  }
  if (grad_value.defined()) {
    const Tensor c = for_heads_of(query, grad_value);
    if (needs[0]) add_term(for_output, matmul(p, c));
    add_term(for_weights, matmul(grad_output, transposed(c)));
  }
  if (!for_weights.defined()) return {};
  const Tensor for_scores = of.through_softmax(for_weights);
  if (needs[1]) add_term(for_query, matmul(for_scores, of.keys) * scale);
  if (needs[2]) add_term(for_key, matmul(transposed(for_scores), query) * scale);
  const auto shared = [&](const Tensor& each) { return each.defined() ? of.shared(each) : each; };
  return {for_output, for_query, shared(for_key), shared(for_value), needs[4] ? for_scores : Tensor()};
}

}  // namespace keyway::inline v1::autograd
