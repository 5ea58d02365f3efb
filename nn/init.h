// Initial values of parameters. Each fills `tensor` in place, records nothing for autograd, and returns it.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <cstdint>

namespace keyway::inline v1::nn::init {

// What the variance is kept of: the values that go forward, or the gradients that go back.
enum class FanMode : std::uint8_t { FanIn, FanOut };
enum class Nonlinearity : std::uint8_t { Linear, Sigmoid, Tanh, ReLU, LeakyReLU, SELU };  // Linear: convolutions too

inline constexpr FanMode kFanIn = FanMode::FanIn, kFanOut = FanMode::FanOut;

KEYWAY_API Tensor zeros_(Tensor tensor);
KEYWAY_API Tensor ones_(Tensor tensor);
KEYWAY_API Tensor constant_(Tensor tensor, const Scalar& value);
// The identity, of a tensor of two dimensions. Throws keyway::Error for others.
KEYWAY_API Tensor eye_(Tensor tensor);
// Convolutions that keep their inputs, as many as there are outputs for: [outputs, inputs, kernel...], with one to
// three dimensions of the kernel. Each of `groups`, which divides the outputs, keeps those of its own.
KEYWAY_API Tensor dirac_(Tensor tensor, std::int64_t groups = 1);
// Uniform in [low, high); of complex numbers, both parts.
KEYWAY_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
KEYWAY_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
// Normal within [low, high]: values outside are drawn again. Throws keyway::Error for an interval that is hardly ever
// hit: one that lies more than four `std` from the mean. Waits for the device.
KEYWAY_API Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double low = -2, double high = 2);
// Normal around 0, with a part `sparsity` of each column, rounded up, zero: a tensor of two dimensions.
KEYWAY_API Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

// For layers followed by `nonlinearity`, whose negative slope is `a` if it is LeakyReLU. Need two dimensions: [outputs,
// inputs, kernel...]. Those of Kaiming leave a tensor without elements as it is.
KEYWAY_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanMode mode = kFanIn,
                                   Nonlinearity nonlinearity = Nonlinearity::LeakyReLU);
KEYWAY_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanMode mode = kFanIn,
                                  Nonlinearity nonlinearity = Nonlinearity::LeakyReLU);
KEYWAY_API Tensor xavier_uniform_(Tensor tensor, double gain = 1);
KEYWAY_API Tensor xavier_normal_(Tensor tensor, double gain = 1);
// A random matrix (Saxe et al., 2013) whose rows, or columns if there are fewer, are orthogonal, of norm `gain`. All
// dimensions but the first count as one.
KEYWAY_API Tensor orthogonal_(Tensor tensor, double gain = 1);

// How many inputs one output is summed from, and how many outputs one input goes to.
struct Fan {
  std::int64_t in, out;
};
KEYWAY_API Fan calculate_fan_in_and_fan_out(const Tensor& tensor);
// What keeps the variance of a signal through a nonlinearity.
KEYWAY_API double calculate_gain(Nonlinearity nonlinearity, double slope = 0.01);

}  // namespace keyway::inline v1::nn::init
