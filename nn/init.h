// Initial values of parameters. Each fills `tensor` in place, records nothing for autograd, and returns it.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <cstdint>

namespace keyway::inline v1::nn::init {

// What the variance is kept of: the values that go forward, or the gradients that go back.
enum class FanMode : std::uint8_t { FanIn, FanOut };
enum class Nonlinearity : std::uint8_t { Linear, Sigmoid, Tanh, ReLU, LeakyReLU };

inline constexpr FanMode kFanIn = FanMode::FanIn, kFanOut = FanMode::FanOut;

KEYWAY_API Tensor zeros_(Tensor tensor);
KEYWAY_API Tensor ones_(Tensor tensor);
KEYWAY_API Tensor constant_(Tensor tensor, const Scalar& value);
// Uniform in [low, high).
KEYWAY_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
KEYWAY_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);

// For layers followed by `nonlinearity`, whose negative slope is `a` if it is LeakyReLU. Need two dimensions: [outputs,
// inputs, kernel...].
KEYWAY_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanMode mode = kFanIn,
                                   Nonlinearity nonlinearity = Nonlinearity::LeakyReLU);
KEYWAY_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanMode mode = kFanIn,
                                  Nonlinearity nonlinearity = Nonlinearity::LeakyReLU);
KEYWAY_API Tensor xavier_uniform_(Tensor tensor, double gain = 1);
KEYWAY_API Tensor xavier_normal_(Tensor tensor, double gain = 1);
// Rows, or columns if there are fewer, that are orthogonal, of norm `gain` (Saxe et al., 2013). All dimensions but the
// first count as one.
KEYWAY_API Tensor orthogonal_(Tensor tensor, double gain = 1);

// How many inputs one output is summed from, and how many outputs one input goes to.
struct Fan {
  std::int64_t in, out;
};
KEYWAY_API Fan calculate_fan_in_and_fan_out(const Tensor& tensor);
// What keeps the variance of a signal through a nonlinearity.
KEYWAY_API double calculate_gain(Nonlinearity nonlinearity, double slope = 0.01);

}  // namespace keyway::inline v1::nn::init
