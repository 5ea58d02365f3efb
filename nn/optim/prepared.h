// What optimizers share: the gradient that they step by, and checks of options. Internal to nn/optim.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/tensor.h>

#include <initializer_list>
#include <utility>

namespace keyway::inline v1::optim {

// gradient + weight_decay * parameter; if `maximize`, -gradient + weight_decay * parameter. With
// `decoupled_weight_decay` the parameter decays in place instead, by lr * weight_decay of itself.
template <typename Options>
Tensor gradient_to_use(const Tensor& parameter, const Tensor& grad, const Options& options) {
  const Tensor used = options.maximize() ? grad.neg() : grad;
  if constexpr (requires { options.weight_decay(); }) {
    if (options.weight_decay() == 0) return used;
    if constexpr (requires { options.decoupled_weight_decay(); }) {
      if (options.decoupled_weight_decay()) {
        parameter.mul_(1 - options.lr() * options.weight_decay());
        return used;
      }
    }
    return used.add(parameter, options.weight_decay());
  }
  return used;
}

// As a number of a state is kept: float32, or float64 where that is the default dtype, as in Python.
inline double number_of_state(double value) {
  return get_default_dtype() == kDouble ? value : static_cast<double>(static_cast<float>(value));
}

// Throws keyway::Error for a negative option.
inline void check_not_negative(const char* optimizer, std::initializer_list<std::pair<const char*, double>> options) {
  for (const auto& [name, value] : options) {
    KEYWAY_CHECK(value >= 0, "{}: {} is {}, but must not be negative", optimizer, name, value);
  }
}

}  // namespace keyway::inline v1::optim
