// Attention against its formula over doubles, and transformers against their parts.
#include <keyway/nn/modules/attention.h>
#include <keyway/nn/modules/transformer.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::exact;
using keyway::testing::largest_difference;
using keyway::testing::some_tensor;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

namespace {

// Of one head: queries, keys and values of rows, and which keys each query may look at.
Tensor attended(const Tensor& q, const Tensor& k, const Tensor& v, const std::function<bool(int, int)>& may_look) {
  const auto a = values_of(q), b = values_of(k), c = values_of(v);
  const auto width = static_cast<int>(q.size(1)), keys = static_cast<int>(k.size(0));
  std::vector<double> rows;
  for (int i = 0; i < q.size(0); ++i) {
    std::vector<double> weights(keys, 0.0), row(width, 0.0);
    double sum = 0;
    for (int j = 0; j < keys; ++j) {
      double score = 0;
      for (int d = 0; d < width; ++d) score += a[i * width + d] * b[j * width + d];
      if (may_look(i, j)) sum += weights[j] = std::exp(score / std::sqrt(static_cast<double>(width)));
    }
    for (int j = 0; j < keys; ++j) {
      for (int d = 0; d < width; ++d) row[d] += weights[j] / sum * c[j * width + d];
    }
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return tensor_of(rows, q.sizes());
}

// Each head by itself.
Tensor expected_of(const nn::MultiheadAttention& layer, const Tensor& query, const Tensor& memory,
                   const std::function<bool(int, int)>& may_look) {
  const std::int64_t embed = layer->options.embed_dim(), heads = layer->options.num_heads(), head = embed / heads;
  const auto projected = [&](const Tensor& x, std::int64_t i) {
    return linear(x, layer->in_proj_weight.narrow(0, i * embed, embed),
                  layer->in_proj_bias.narrow(0, i * embed, embed));
  };
  const Tensor q = projected(query, 0), k = projected(memory, 1), v = projected(memory, 2);
  std::vector<Tensor> mixed;
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto of_head = [&](const Tensor& x) { return x.narrow(1, h * head, head); };
    mixed.push_back(attended(of_head(q), of_head(k), of_head(v), may_look));
  }
  return layer->out_proj(cat(mixed, 1));
}

double gap(const Tensor& a, const Tensor& b) { return largest_difference(values_of(a), values_of(b)); }

using More = nn::MultiheadAttentionForwardOptions;

}  // namespace

TEST_CASE("MultiheadAttention is attention of each head, with and without masks, batches and weights") {
  const auto layer = exact(nn::MultiheadAttention(6, 2));
  const Tensor query = some_tensor({3, 6}), memory = some_tensor({4, 6}, 2);
  const Tensor whole = expected_of(layer, query, memory, [](int, int) { return true; });
  const auto [result, weights] = layer(query, memory, memory);
  CHECK(gap(result, whole) < 1e-13);
  REQUIRE(weights.sizes() == IntArrayRef({3, 4}));
  CHECK(gap(weights.sum(IntArrayRef({1})), keyway::ones({3})) < 1e-13);
  const auto [same, none] = layer(query, memory, memory, More().need_weights(false));
  CHECK(gap(same, whole) < 1e-13);
  CHECK(!none.defined());

  const Tensor later = tensor_of({0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1}, {3, 4}, kBool);
  const Tensor causal = expected_of(layer, query, memory, [](int i, int j) { return j <= i; });
  for (const bool needs : {true, false}) {
    CHECK(gap(std::get<0>(layer(query, memory, memory, More().attn_mask(later).need_weights(needs))), causal) < 1e-13);
    const Tensor padding = tensor_of({0, 0, 1, 0}, {4}, kBool);
    const Tensor without = expected_of(layer, query, memory, [](int i, int j) { return j <= i && j != 2; });
    const auto both = More().attn_mask(later).key_padding_mask(padding).need_weights(needs);
    CHECK(gap(std::get<0>(layer(query, memory, memory, both)), without) < 1e-13);
  }

  const auto first = exact(nn::MultiheadAttention(nn::MultiheadAttentionOptions(6, 2).batch_first(true)));
  first->load_state_dict(layer->state_dict());
  const Tensor queries = stack({query, query * 2}), memories = stack({memory, memory * -1});
  const auto [batched, each] = first(queries, memories, memories, More().average_attn_weights(false));
  CHECK(each.sizes() == IntArrayRef({2, 2, 3, 4}));
  CHECK(gap(batched.select(0, 0), whole) < 1e-13);
  const Tensor second = std::get<0>(layer(query * 2, memory * -1, memory * -1));
  CHECK(gap(batched.select(0, 1), second) < 1e-13);
}

TEST_CASE("MultiheadAttention has PyTorch's parameters, and learned and zero keys") {
  const nn::MultiheadAttention layer(4, 2);
  CHECK(layer->named_parameters().keys() ==
        std::vector<std::string>{"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"});
  const auto other = exact(nn::MultiheadAttention(
      nn::MultiheadAttentionOptions(4, 2).kdim(3).vdim(5).add_bias_kv(true).add_zero_attn(true).bias(false)));
  CHECK(other->named_parameters().keys() == std::vector<std::string>{"q_proj_weight", "k_proj_weight", "v_proj_weight",
                                                                     "bias_k", "bias_v", "out_proj.weight"});
  const auto [result, weights] = other(some_tensor({2, 4}), some_tensor({3, 3}), some_tensor({3, 5}),
                                       More().attn_mask(keyway::zeros({2, 3}, kDouble)));
  CHECK(result.sizes() == IntArrayRef({2, 4}));
  CHECK(weights.sizes() == IntArrayRef({2, 5}));
  CHECK(gap(weights.sum(IntArrayRef({1})), keyway::ones({2})) < 1e-13);
}

TEST_CASE("MultiheadAttention says what it refuses") {
  CHECK(error_of([] { nn::MultiheadAttention(4, 3); }) == "MultiheadAttention: 3 heads do not divide embed_dim 4");
  const nn::MultiheadAttention layer(4, 2);
  const Tensor x = some_tensor({3, 4}, 1, kFloat);
  CHECK(error_of([&] { layer(x, x.unsqueeze(0), x); }) ==
        "MultiheadAttention: query, key and value have 2 dimensions each, or 3, not 2, 3 and 2");
  CHECK(error_of([&] { layer(x, x, x, More().attn_mask(x)); }) ==
        "MultiheadAttention: attn_mask has shape [3, 4], but must have [3, 3] or [2, 3, 3]");
  CHECK(error_of([&] { layer(x, x, x, More().key_padding_mask(x)); }) ==
        "MultiheadAttention: key_padding_mask has shape [3, 4], but must have [1, 3]");
}

TEST_CASE("a transformer's layers are their parts, with the normalisation behind them or before") {
  for (const bool norm_first : {false, true}) {
    const auto options =
        nn::TransformerLayerOptions(4, 2).dim_feedforward(6).norm_first(norm_first).activation([](const Tensor& x) {
          return gelu(x);
        });
    const auto layer = exact(nn::TransformerDecoderLayer(options));
    layer->eval();
    const Tensor x = some_tensor({3, 4}), memory = some_tensor({5, 4}, 2);
    const auto feed = [&](const Tensor& y) { return layer->linear2(gelu(layer->linear1(y))); };
    const auto look = [&](const Tensor& y) { return std::get<0>(layer->multihead_attn(y, memory, memory)); };
    const auto around = [&](const Tensor& y) { return std::get<0>(layer->self_attn(y, y, y)); };
    Tensor expected;
    if (norm_first) {
      const Tensor a = x + around(layer->norm1(x)), b = a + look(layer->norm2(a));
      expected = b + feed(layer->norm3(b));
    } else {
      const Tensor a = layer->norm1(x + around(x)), b = layer->norm2(a + look(a));
      expected = layer->norm3(b + feed(b));
    }
    CHECK(gap(layer(x, memory), expected) < 1e-13);
  }
}

TEST_CASE("stacks of layers have PyTorch's names, and gradients reach every parameter") {
  const auto options = nn::TransformerLayerOptions(4, 2).dim_feedforward(6).dropout(0);
  const auto encoder = exact(nn::TransformerEncoder(nn::TransformerEncoderOptions(options, 2).norm(true)));
  const auto decoder = exact(nn::TransformerDecoder(options, 2));
  const auto names = encoder->named_parameters().keys();
  CHECK(names.front() == "layers.0.self_attn.in_proj_weight");
  CHECK(names.back() == "norm.bias");
  CHECK(decoder->named_parameters().contains("layers.1.multihead_attn.out_proj.bias"));
  const Tensor source = some_tensor({3, 2, 4}), target = some_tensor({5, 2, 4}, 2);
  const Tensor mask = keyway::ones({5, 5}, TensorOptions().dtype(kBool)).triu(1);
  (decoder(target, encoder(source), mask) * some_tensor({5, 2, 4}, 3)).sum().backward();
  for (const nn::Module* module :
       {static_cast<const nn::Module*>(encoder.get()), static_cast<const nn::Module*>(decoder.get())}) {
    for (const auto& [name, parameter] : module->named_parameters()) {
      INFO(name);
      REQUIRE(parameter.grad().defined());
      CHECK(parameter.grad().abs().max().item<double>() > 0);
    }
  }
  const auto first = decoder->layers->at<nn::TransformerDecoderLayerImpl>(0).forward(target, source, mask);
  CHECK(gap(decoder(target, source, mask),
            decoder->layers->at<nn::TransformerDecoderLayerImpl>(1).forward(first, source, mask)) == 0);
}
