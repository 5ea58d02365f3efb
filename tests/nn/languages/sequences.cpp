#include <keyway/nn/modules/attention.h>
#include <keyway/nn/modules/rnn.h>
#include <keyway/nn/modules/transformer.h>
#include <keyway/ops/all.h>
#include <keyway/tests/nn/languages/cases.h>

namespace keyway::inline v1::testing {

namespace {

nn::RNNOptions recurrent(Given& given) {
  nn::RNNOptions options(given.integer("input_size"), given.integer("hidden_size"));
  READ(num_layers), READ(bias), READ(batch_first), READ(dropout), READ(bidirectional);
  return options;
}

nn::RNNCellOptions cell(Given& given) {
  nn::RNNCellOptions options(given.integer("input_size"), given.integer("hidden_size"));
  READ(bias);
  return options;
}

// What stands in the case's "call" is given to forward().
Made attention(Given& given) {
  nn::MultiheadAttentionOptions options(given.integer("embed_dim"), given.integer("num_heads"));
  READ(dropout), READ(bias), READ(add_bias_kv), READ(add_zero_attn), READ(kdim), READ(vdim), READ(batch_first);
  nn::MultiheadAttention module(options);
  nn::MultiheadAttentionForwardOptions more;
  Given call = given.call();
  call.read("key_padding_mask", more.key_padding_mask());
  call.read("attn_mask", more.attn_mask());
  call.read("need_weights", more.need_weights());
  call.read("average_attn_weights", more.average_attn_weights());
  return {module.ptr(), [module, more](const Tensors& x) {
            Tensors results;
            flatten(results, module->forward(x[0], x[1], x[2], more));
            return results;
          }};
}

template <typename Options>
Options layer(Given& given) {
  Options options(given.integer("d_model"), given.integer("nhead"));
  READ(dim_feedforward), READ(dropout), READ(layer_norm_eps), READ(batch_first), READ(norm_first), READ(bias);
  std::string activation = "relu";
  given.read("activation", activation);
  if (activation == "gelu") options.activation([](const Tensor& x) { return gelu(x); });
  return options;
}

Made transformer(Given& given) {
  auto options = layer<nn::TransformerOptions>(given);
  READ(num_encoder_layers), READ(num_decoder_layers);
  return made_of<nn::Transformer>(options);
}

}  // namespace

Makers sequences() {
  using namespace nn;
  return {
      {"RNN",
       [](Given& given) {
         auto options = recurrent(given);
         READ(nonlinearity);
         return made_of<RNN>(options);
       }},
      {"GRU", [](Given& given) { return made_of<GRU>(recurrent(given)); }},
      {"LSTM",
       [](Given& given) {
         auto options = recurrent(given);
         READ(proj_size);
         return made_of<LSTM>(options);
       }},
      {"RNNCell",
       [](Given& given) {
         auto options = cell(given);
         READ(nonlinearity);
         return made_of<RNNCell>(options);
       }},
      {"GRUCell", [](Given& given) { return made_of<GRUCell>(cell(given)); }},
      {"LSTMCell", [](Given& given) { return made_of<LSTMCell>(cell(given)); }},
      {"MultiheadAttention", attention},
      {"TransformerEncoderLayer",
       [](Given& given) { return made_of<TransformerEncoderLayer>(layer<TransformerEncoderLayerOptions>(given)); }},
      {"TransformerDecoderLayer",
       [](Given& given) { return made_of<TransformerDecoderLayer>(layer<TransformerDecoderLayerOptions>(given)); }},
      {"Transformer", transformer},
  };
}

}  // namespace keyway::inline v1::testing
