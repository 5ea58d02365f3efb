#include <keyway/ops/all.h>
#include <keyway/ops/attention_composites.h>

#include <cmath>
#include <limits>

namespace keyway::inline v1::composite {

namespace {

constexpr double kUnseen = -std::numeric_limits<double>::infinity();

// Keys or values, of which each head serves several of `query`.
Tensor for_heads_of(const Tensor& query, const Tensor& shared, const char* name) {
  KEYWAY_CHECK(query.dim() >= 3 && shared.dim() >= 3,
               "with enable_gqa, 'query' and '{}' have three dimensions at least", name);
  const std::int64_t heads = query.size(-3), given = shared.size(-3);
  KEYWAY_CHECK(given > 0 && heads % given == 0, "the {} heads of 'query' are no multiple of the {} of '{}'", heads,
               given, name);
  return given == heads ? shared : shared.repeat_interleave(heads / given, -3);
}

// softmax of scores along keys; zeros where all are unseen.
Tensor weights_of(const Tensor& scores) {
  const Tensor sees_none = scores.eq(kUnseen).all(-1, true);
  return scores.masked_fill(sees_none, 0).softmax(-1).masked_fill(sees_none, 0);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  const Tensor keys = enable_gqa ? for_heads_of(query, key, "key") : key;
  const Tensor values = enable_gqa ? for_heads_of(query, value, "value") : value;
  const double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  const Tensor scores = matmul(query * factor, keys.transpose(-2, -1));
  Tensor weights;
  if (is_causal) {  // each query sees a key
    const Tensor seen = ones({query.size(-2), keys.size(-2)}, TensorOptions(query.device()).dtype(kBool)).tril();
    weights = scores.masked_fill(seen.logical_not(), kUnseen).softmax(-1);
  } else if (!attn_mask) {
    weights = scores.softmax(-1);
  } else if (attn_mask->dtype() == kBool) {
    weights = weights_of(scores.masked_fill(attn_mask->logical_not(), kUnseen));
  } else {
    weights = weights_of(scores + *attn_mask);
  }
  return matmul(dropout_p > 0 ? dropout(weights, dropout_p, true) : weights, values);
}

}  // namespace keyway::inline v1::composite
