// Functions of one number for random programs: as operators, and as a textbook has them with their derivatives.
#pragma once

#include <keyway/keyway.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

namespace keyway::inline v1::testing {

// A function of one number, with its first two derivatives, and what x has to be for it.
struct Function {
  std::string_view name;
  double least, most;
  Tensor (*call)(const Tensor& x);
  Tensor& (*change)(Tensor& x);
  std::array<double, 3> (*at)(double x);
};
#define FUNCTION(name, least, most, ...)                                                   \
  Function {                                                                               \
    std::string_view(#name), least, most, [](const Tensor& x) { return keyway::name(x); }, \
        [](Tensor& x) -> Tensor& { return keyway::name##_(x); },                           \
        [](double x) { return std::array<double, 3> __VA_ARGS__; }                         \
  }
inline const Function kFunctions[] = {
    FUNCTION(exp, -3, 2, {std::exp(x), std::exp(x), std::exp(x)}),
    FUNCTION(expm1, -3, 2, {std::expm1(x), std::exp(x), std::exp(x)}),
    FUNCTION(exp2, -3, 2,
             {std::exp2(x), std::exp2(x) * std::numbers::ln2, std::exp2(x) * std::numbers::ln2* std::numbers::ln2}),
    FUNCTION(sqrt, 0.1, 1e6, {std::sqrt(x), 0.5 * std::pow(x, -0.5), -0.25 * std::pow(x, -1.5)}),
    FUNCTION(rsqrt, 0.1, 1e6, {std::pow(x, -0.5), -0.5 * std::pow(x, -1.5), 0.75 * std::pow(x, -2.5)}),
    FUNCTION(reciprocal, 0.2, 1e6, {1 / x, -1 / (x * x), 2 / (x * x * x)}),
    FUNCTION(log, 0.1, 1e6, {std::log(x), 1 / x, -1 / (x * x)}),
    FUNCTION(tan, -1, 1, {std::tan(x), 1 / std::pow(std::cos(x), 2), 2 * std::tan(x) / std::pow(std::cos(x), 2)}),
    FUNCTION(tanh, -4, 4, {std::tanh(x), std::pow(std::cosh(x), -2), -2 * std::tanh(x) * std::pow(std::cosh(x), -2)}),
    FUNCTION(sigmoid, -4, 4,
             {1 / (1 + std::exp(-x)), 0.25 * std::pow(std::cosh(x / 2), -2),
              -0.25 * std::tanh(x / 2) * std::pow(std::cosh(x / 2), -2)}),
    FUNCTION(sin, -1e3, 1e3, {std::sin(x), std::cos(x), -std::sin(x)}),
};
#undef FUNCTION

}  // namespace keyway::inline v1::testing
