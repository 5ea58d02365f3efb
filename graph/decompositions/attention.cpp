#include <keyway/graph/decompositions/decompositions.h>

#include <limits>
#include <optional>
#include <tuple>

namespace keyway::inline v1::graph::decompositions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Queries [N, H, L, E] and keys and values [N, G, S, E], each head of which serves H / G of the queries, which are
// [N, G, H / G, L, E] here, in float32 if they are of 16 bits.
struct Heads {
  DimVector sizes;  // N, G, H / G

  Heads(const Tensor& query, const Tensor& key)
      : sizes{query.size(0), key.size(1), key.size(1) == 0 ? 0 : query.size(1) / key.size(1)} {}
  Tensor of_queries(const Tensor& x) const {
    return composite::to_opmath(x).reshape({sizes[0], sizes[1], sizes[2], x.size(2), x.size(3)});
  }
  static Tensor of_keys(const Tensor& x) { return composite::to_opmath(x).unsqueeze(2); }
};

// The scores [N, G, H / G, L, S], -infinity where a key is not seen.
Tensor scores(const Heads& heads, const Tensor& query, const Tensor& key, const std::optional<Tensor>& mask,
              bool is_causal, double scale) {
  Tensor products = keyway::matmul(heads.of_queries(query), Heads::of_keys(key).transpose(-2, -1)) * scale;
  if (is_causal) {
    const auto options = TensorOptions().device(query.device());
    const Tensor later = keyway::arange(key.size(2), options) > keyway::arange(query.size(2), options).unsqueeze(-1);
    products = products.masked_fill(later, -kInfinity);
  }
  if (!mask || !mask->defined()) return products;
  const Tensor of_heads = mask->expand({query.size(0), query.size(1), query.size(2), key.size(2)})
                              .reshape({heads.sizes[0], heads.sizes[1], heads.sizes[2], query.size(2), key.size(2)});
  if (mask->dtype() == kBool) return products.masked_fill(of_heads.logical_not(), -kInfinity);
  return products + composite::to_opmath(of_heads);
}

// Of each query the greatest score, 0 if it sees no key: what shares are taken from, whose choice changes nothing. A
// further key that is not seen, since there may be none.
Tensor greatest_of(const Tensor& of_keys) {
  const NoGradGuard no_grad;
  const Tensor most = keyway::constant_pad_nd(of_keys, {0, 1}, -kInfinity).amax({-1}, true);
  return most.masked_fill(most == -kInfinity, 0);
}

// A query that sees no key gets zeros, and infinity as its logarithm.
std::tuple<Tensor, Tensor> attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                             const std::optional<Tensor>& attn_mask, bool is_causal, double scale) {
  const Heads heads(query, key);
  const Tensor of_keys = scores(heads, query, key, attn_mask, is_causal, scale);
  const Tensor greatest = greatest_of(of_keys);
  const Tensor shares = (of_keys - greatest).exp(), total = shares.sum({-1}, true);
  const Tensor is_blind = total == 0, divisor = total.masked_fill(is_blind, 1);
  const Tensor output = keyway::matmul(shares, Heads::of_keys(value)) / divisor;
  const Tensor result =
      composite::narrowed(output.reshape({query.size(0), query.size(1), query.size(2), value.size(3)}), query.dtype());
  const NoGradGuard no_grad;  // what is kept for a backward has no derivative
  const Tensor logsumexp = (greatest + divisor.log()).masked_fill(is_blind, kInfinity);
  return {result, logsumexp.reshape({query.size(0), query.size(1), query.size(2)})};
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& grad_output, const Tensor& query, const Tensor& key,
                                                      const Tensor& value, const std::optional<Tensor>& attn_mask,
                                                      bool is_causal, double scale, const Tensor& output,
                                                      const Tensor& logsumexp) {
  const Heads heads(query, key);
  const Tensor logarithm = logsumexp.reshape({heads.sizes[0], heads.sizes[1], heads.sizes[2], query.size(2), 1});
  const Tensor weights = (scores(heads, query, key, attn_mask, is_causal, scale) - logarithm).exp();
  const Tensor grad = heads.of_queries(grad_output);
  const Tensor of_weights = keyway::matmul(grad, Heads::of_keys(value).transpose(-2, -1));
  const Tensor along = (grad * heads.of_queries(output)).sum({-1}, true);
  const Tensor of_scores = (weights * (of_weights - along) * scale).masked_fill(weights == 0, 0);
  const Tensor of_query = keyway::matmul(of_scores, Heads::of_keys(key));
  const Tensor of_key = keyway::matmul(of_scores.transpose(-2, -1), heads.of_queries(query)).sum({2});
  const Tensor of_value = keyway::matmul(weights.transpose(-2, -1), grad).sum({2});
  return {composite::narrowed(of_query.reshape(query.sizes()), query.dtype()),
          composite::narrowed(of_key, query.dtype()), composite::narrowed(of_value, query.dtype())};
}

}  // namespace

void add_attention(Decompositions& table) {
  table.set("_scaled_dot_product_attention_backward", &attention_backward);
  table.set("_scaled_dot_product_attention_forward", &attention_forward);
}

}  // namespace keyway::inline v1::graph::decompositions
