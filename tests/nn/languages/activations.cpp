#include <keyway/nn/modules/activation.h>
#include <keyway/nn/modules/dropout.h>
#include <keyway/tests/nn/languages/cases.h>

namespace keyway::inline v1::testing {

namespace {

template <typename Holder>
Maker plain() {
  return [](Given&) { return made(Holder()); };
}

template <typename Holder>
Maker over_dim() {
  return [](Given& given) { return made(Holder(given.integer("dim"))); };
}

// A module with default options, changed by what the case has.
template <typename Holder, typename Options, typename Read>
Maker with(const Read& read) {
  return [read](Given& given) {
    Options options;
    read(given, options);
    return made_of<Holder>(options);
  };
}

const auto read_inplace = [](Given& given, auto& options) { READ(inplace); };
const auto read_alpha = [](Given& given, auto& options) { READ(alpha), READ(inplace); };
const auto read_lambda = [](Given& given, auto& options) { given.read("lambd", options.lambda()); };
const auto read_dropout = [](Given& given, auto& options) { READ(p), READ(inplace); };

}  // namespace

Makers activations() {
  using namespace nn;
  return {
      {"Sigmoid", plain<Sigmoid>()},
      {"Tanh", plain<Tanh>()},
      {"LogSigmoid", plain<LogSigmoid>()},
      {"Softsign", plain<Softsign>()},
      {"Tanhshrink", plain<Tanhshrink>()},
      {"Softmax2d", plain<Softmax2d>()},
      {"ReLU", with<ReLU, ReLUOptions>(read_inplace)},
      {"SiLU", with<SiLU, SiLUOptions>(read_inplace)},
      {"SELU", with<SELU, SELUOptions>(read_inplace)},
      {"Mish", with<Mish, MishOptions>(read_inplace)},
      {"Hardswish", with<Hardswish, HardswishOptions>(read_inplace)},
      {"Hardsigmoid", with<Hardsigmoid, HardsigmoidOptions>(read_inplace)},
      {"ReLU6", with<ReLU6, ReLU6Options>(read_inplace)},
      {"CELU", with<CELU, CELUOptions>(read_alpha)},
      {"ELU", with<ELU, ELUOptions>(read_alpha)},
      {"LeakyReLU",
       with<LeakyReLU, LeakyReLUOptions>([](Given& given, auto& options) { READ(negative_slope), READ(inplace); })},
      {"RReLU",
       with<RReLU, RReLUOptions>([](Given& given, auto& options) { READ(lower), READ(upper), READ(inplace); })},
      {"GLU", with<GLU, GLUOptions>([](Given& given, auto& options) { READ(dim); })},
      {"Hardshrink", with<Hardshrink, HardshrinkOptions>(read_lambda)},
      {"Softshrink", with<Softshrink, SoftshrinkOptions>(read_lambda)},
      {"Hardtanh", with<Hardtanh, HardtanhOptions>(
                       [](Given& given, auto& options) { READ(min_val), READ(max_val), READ(inplace); })},
      {"Softplus", with<Softplus, SoftplusOptions>([](Given& given, auto& options) { READ(beta), READ(threshold); })},
      {"PReLU", with<PReLU, PReLUOptions>([](Given& given, auto& options) { READ(num_parameters), READ(init); })},
      {"Threshold",
       [](Given& given) {
         ThresholdOptions options(given.number("threshold"), given.number("value"));
         READ(inplace);
         return made_of<Threshold>(options);
       }},
      {"GELU",
       [](Given& given) {
         std::string approximate = "none";
         given.read("approximate", approximate);
         return made(GELU(approximate));
       }},
      {"Softmax", over_dim<Softmax>()},
      {"LogSoftmax", over_dim<LogSoftmax>()},
      {"Softmin", over_dim<Softmin>()},
      {"Dropout", with<Dropout, DropoutOptions>(read_dropout)},
      {"Dropout1d", with<Dropout1d, DropoutOptions>(read_dropout)},
      {"Dropout2d", with<Dropout2d, DropoutOptions>(read_dropout)},
      {"Dropout3d", with<Dropout3d, DropoutOptions>(read_dropout)},
      {"AlphaDropout", with<AlphaDropout, DropoutOptions>(read_dropout)},
      {"FeatureAlphaDropout", with<FeatureAlphaDropout, DropoutOptions>(read_dropout)},
  };
}

}  // namespace keyway::inline v1::testing
