// Initial values of parameters by name.
#include <keyway/nn/init.h>
#include <keyway/tests/nn/languages/cases.h>

namespace keyway::inline v1::testing {

namespace {

nn::init::FanMode mode_of(Given& given) {
  std::string mode = "fan_in";
  given.read("mode", mode);
  return mode == "fan_in" ? nn::init::kFanIn : nn::init::kFanOut;
}

nn::init::Nonlinearity nonlinearity_of(Given& given) {
  using nn::init::Nonlinearity;
  const std::map<std::string, Nonlinearity> all = {
      {"linear", Nonlinearity::Linear}, {"sigmoid", Nonlinearity::Sigmoid},      {"tanh", Nonlinearity::Tanh},
      {"relu", Nonlinearity::ReLU},     {"leaky_relu", Nonlinearity::LeakyReLU}, {"selu", Nonlinearity::SELU}};
  std::string name = "leaky_relu";
  given.read("nonlinearity", name);
  return all.at(name);
}

}  // namespace

const std::map<std::string, Init>& inits() {
  using namespace nn::init;
  static const std::map<std::string, Init> all = {
      {"zeros_", [](const Tensor& x, Given&) { return zeros_(x); }},
      {"ones_", [](const Tensor& x, Given&) { return ones_(x); }},
      {"constant_", [](const Tensor& x, Given& given) { return constant_(x, given.number("val")); }},
      {"eye_", [](const Tensor& x, Given&) { return eye_(x); }},
      {"dirac_", [](const Tensor& x, Given& given) { return dirac_(x, given.integer("groups")); }},
      {"uniform_", [](const Tensor& x, Given& given) { return uniform_(x, given.number("a"), given.number("b")); }},
      {"normal_", [](const Tensor& x, Given& given) { return normal_(x, given.number("mean"), given.number("std")); }},
      {"trunc_normal_",
       [](const Tensor& x, Given& given) {
         return trunc_normal_(x, given.number("mean"), given.number("std"), given.number("a"), given.number("b"));
       }},
      {"sparse_",
       [](const Tensor& x, Given& given) { return sparse_(x, given.number("sparsity"), given.number("std")); }},
      {"kaiming_uniform_",
       [](const Tensor& x, Given& given) {
         return kaiming_uniform_(x, given.number("a"), mode_of(given), nonlinearity_of(given));
       }},
      {"kaiming_normal_",
       [](const Tensor& x, Given& given) {
         return kaiming_normal_(x, given.number("a"), mode_of(given), nonlinearity_of(given));
       }},
      {"xavier_uniform_", [](const Tensor& x, Given& given) { return xavier_uniform_(x, given.number("gain")); }},
      {"xavier_normal_", [](const Tensor& x, Given& given) { return xavier_normal_(x, given.number("gain")); }},
      {"orthogonal_", [](const Tensor& x, Given& given) { return orthogonal_(x, given.number("gain")); }},
  };
  return all;
}

}  // namespace keyway::inline v1::testing
