// KEYWAY_OPTION: one option of an options class, with PyTorch's accessors.
//
//   class SGDOptions {
//     KEYWAY_OPTION(double, lr) = 1e-3;
//     KEYWAY_OPTION(double, momentum) = 0;
//   };
//   const auto options = SGDOptions().lr(0.1).momentum(0.9);
//   options.lr() == 0.1
#pragma once

#include <utility>

#define KEYWAY_OPTION(T, name)              \
 public:                                    \
  auto name(T value)->decltype(*this) {     \
    this->name##_ = std::move(value);       \
    return *this;                           \
  }                                         \
  const T& name() const { return name##_; } \
  T& name() { return name##_; }             \
                                            \
 private:                                   \
  T name##_ /* = default; */
