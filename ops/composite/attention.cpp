#include <keyway/ops/all.h>
#include <keyway/ops/attention_composites.h>
#include <keyway/ops/attention_entries.h>
#include <keyway/ops/rules/broadcast.h>

#include <cmath>
#include <limits>
#include <tuple>

namespace keyway::inline v1::composite {

namespace {

constexpr double kUnseen = -std::numeric_limits<double>::infinity();

double factor_of(const Tensor& query, std::optional<double> scale) {
  return scale ? *scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
}

// Keys or values, of which each head serves several of `query`.
Tensor for_heads_of(const Tensor& query, const Tensor& shared, const char* name) {
  KEYWAY_CHECK(query.dim() >= 3 && shared.dim() >= 3,
               "with enable_gqa, 'query' and '{}' have three dimensions at least", name);
  const std::int64_t heads = query.size(-3), given = shared.size(-3);
  KEYWAY_CHECK(given > 0 && heads % given == 0, "the {} heads of 'query' are no multiple of the {} of '{}'", heads,
               given, name);
  return given == heads ? shared : shared.repeat_interleave(heads / given, -3);
}

// softmax of scores along keys; zeros where all are unseen, or minus infinity as a product.
Tensor weights_of(const Tensor& scores) {
  const Tensor sees_none = scores.eq(kUnseen).all(-1, true);
  return scores.masked_fill(sees_none, 0).softmax(-1).masked_fill(sees_none, 0);
}

// Whether the first of three dimensions may be that of examples: with one head each, the result is row-major.
bool are_of_examples(const Tensor& query, const Tensor& key, const Tensor& value) {
  return query.dim() == 3 && key.size(0) == query.size(0) && value.size(0) == query.size(0);
}

// The arguments of the operator that is all of attention, if they fit it: examples are as many, and those of one
// example have one head of keys and values for so many of queries.
struct Fused {
  Tensor query, key, value;
  std::optional<Tensor> mask;
};
std::optional<Fused> fused(const Tensor& query, const Tensor& key, const Tensor& value,
                           const std::optional<Tensor>& attn_mask, bool enable_gqa) {
  const std::int64_t rank = query.dim();
  const ScalarType dtype = query.dtype();
  if (enable_gqa && rank < 3) return {};  // which is refused, as there are no heads
  if (rank > 4 || key.dim() != rank || value.dim() != rank || key.dtype() != dtype || value.dtype() != dtype) return {};
  const bool has_mask = attn_mask && attn_mask->defined();
  if (has_mask && (attn_mask->dim() > rank || (attn_mask->dtype() != dtype && attn_mask->dtype() != kBool))) return {};
  const bool of_examples = are_of_examples(query, key, value);
  const auto of_four_dims = [&](Tensor tensor) {
    if (of_examples && tensor.dim() == 3) return tensor.unsqueeze(1);
    while (tensor.dim() < 4) tensor = tensor.unsqueeze(0);
    return tensor;
  };
  Fused of{of_four_dims(query), of_four_dims(key), of_four_dims(value), std::nullopt};
  if (has_mask) of.mask = of_four_dims(*attn_mask);
  const IntArrayRef q = of.query.sizes(), k = of.key.sizes(), v = of.value.sizes();
  const bool shares_heads = k[1] == q[1] || k[1] == 1 || (enable_gqa && k[1] > 0 && q[1] % k[1] == 0);
  const bool fits = k[0] == q[0] && v[0] == q[0] && shares_heads && v[1] == k[1] && k[2] == v[2] && k[3] == q[3];
  if (!fits || q[3] == 0 || (has_mask && !broadcasts_to(of.mask->sizes(), {q[0], q[1], q[2], k[2]}))) return {};
  return of;
}

}  // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(const Tensor& query, const Tensor& key,
                                                              const Tensor& value,
                                                              const std::optional<Tensor>& attn_mask, double dropout_p,
                                                              bool is_causal, const std::optional<Tensor>& dropout_mask,
                                                              std::optional<double> scale, bool enable_gqa) {
  const Tensor keys = enable_gqa ? for_heads_of(query, key, "key") : key;
  const Tensor values = enable_gqa ? for_heads_of(query, value, "value") : value;
  const Tensor scores = matmul(query * factor_of(query, scale), keys.transpose(-2, -1));
  Tensor weights;
  if (is_causal) {
    const Tensor seen = ones({query.size(-2), keys.size(-2)}, TensorOptions(query.device()).dtype(kBool)).tril();
    weights = weights_of(scores.masked_fill(seen.logical_not(), kUnseen));
  } else if (!attn_mask) {
    weights = weights_of(scores);
  } else if (attn_mask->dtype() == kBool) {
    weights = weights_of(scores.masked_fill(attn_mask->logical_not(), kUnseen));
  } else {
    weights = weights_of(scores + *attn_mask);
  }
  if (dropout_mask && dropout_mask->defined()) {
    weights = weights.masked_fill(dropout_mask->logical_not(), 0);
    return {matmul(weights, values * (1 / (1 - dropout_p))), weights};
  }
  if (dropout_p > 0) weights = dropout(weights, dropout_p, true);
  return {matmul(weights, values), weights};
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  if (dropout_p == 0 && ops::_scaled_dot_product_attention_forward.has_kernel_for(query.device().type())) {
    if (const std::optional<Fused> of = fused(query, key, value, attn_mask, enable_gqa)) {
      const Tensor output = std::get<0>(keyway::_scaled_dot_product_attention_forward(
          of->query, of->key, of->value, of->mask, is_causal, factor_of(query, scale)));
      if (query.dim() == 4) return output;
      if (are_of_examples(query, key, value)) return output.squeeze(1);
      return query.dim() == 3 ? output.squeeze(0).contiguous() : output.squeeze(0).squeeze(0);
    }
  }
  return std::get<0>(composite::_scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal,
                                                                   std::nullopt, scale, enable_gqa));
}

}  // namespace keyway::inline v1::composite
