// KEYWAY_OPTION: one option of an options class, with PyTorch's accessors.
//
//   class SGDOptions {
//     KEYWAY_OPTION(double, lr) = 1e-3;
//     KEYWAY_OPTION(double, momentum) = 0;
//   };
//   const auto options = SGDOptions().lr(0.1).momentum(0.9);
//   options.lr() == 0.1
//
// KEYWAY_OPTION_OF: the same of a base of options classes, whose setters return the class itself, Self.
#pragma once

#include <type_traits>
#include <utility>

#define KEYWAY_OPTION(T, name) KEYWAY_OPTION_OF(std::remove_reference_t<decltype(*this)>, T, name)

#define KEYWAY_OPTION_OF(Self, T, name)     \
 public:                                    \
  auto name(T value)->Self& {               \
    this->name##_ = std::move(value);       \
    return static_cast<Self&>(*this);       \
  }                                         \
  const T& name() const { return name##_; } \
  T& name() { return name##_; }             \
                                            \
 private:                                   \
  T name##_ /* = default; */
