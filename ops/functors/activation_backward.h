// Gradients of activations: from the gradient of the result and the input or the result.
#pragma once

#include <keyway/ops/functors/activation.h>

namespace keyway::inline v1 {

// Also relu's, with threshold 0.
template <typename T>
struct ThresholdBackward {
  Opmath<T> threshold;

  KEYWAY_HD constexpr T operator()(T grad, T x) const { return opmath(x) <= threshold ? T() : grad; }
};

template <typename T>
struct LeakyReluBackward {
  Opmath<T> negative_slope;
  bool self_is_result;  // the sign is the same, as the slope is then not negative

  KEYWAY_HD constexpr T operator()(T grad, T x) const {
    return opmath(x) > 0 ? grad : static_cast<T>(opmath(grad) * negative_slope);
  }
};

template <typename T>
struct GeluBackward {
  explicit constexpr GeluBackward(std::string_view approximate) : tanh_form(approximate == "tanh") {}

  KEYWAY_HD T operator()(T grad, T x) const {
    using C = Opmath<T>;
    const C g = opmath(grad), v = opmath(x);
    if (!tanh_form) {
      const C cdf = C(0.5) * (1 + std::erf(v * detail::kSqrtHalf<C>));
      const C pdf = std::exp(C(-0.5) * v * v) * (detail::kGeluScale<C> * C(0.5));
      return static_cast<T>(g * (cdf + v * pdf));
    }
    const C t = std::tanh(detail::kGeluScale<C> * (v + detail::kGeluCubic<C> * v * v * v));
    const C slope = detail::kGeluScale<C> * (1 + 3 * detail::kGeluCubic<C> * v * v);
    return static_cast<T>(g * (C(0.5) * (1 + t) + C(0.5) * v * (1 - t * t) * slope));
  }

  bool tanh_form;
};

template <typename T>
struct SiluBackward {
  KEYWAY_HD T operator()(T grad, T x) const {
    const Opmath<T> v = opmath(x), one(1);
    const Opmath<T> s = detail::logistic(v);
    return static_cast<T>(opmath(grad) * s * (one + v * (one - s)));
  }
};

template <typename T>
struct MishBackward {
  KEYWAY_HD T operator()(T grad, T x) const {
    const Opmath<T> v = opmath(x);
    const Opmath<T> s = detail::logistic(v);
    const Opmath<T> t = std::tanh(std::log1p(std::exp(v)));
    return static_cast<T>(opmath(grad) * (t + v * s * (1 - t * t)));
  }
};

// From the result.
template <typename T>
struct SigmoidBackward {
  KEYWAY_HD constexpr T operator()(T grad, T y) const {
    if constexpr (ComplexElement<T>) {
      return static_cast<T>(opmath(grad) * conj((Opmath<T>(1) - opmath(y)) * opmath(y)));
    } else {
      return static_cast<T>(opmath(grad) * (1 - opmath(y)) * opmath(y));
    }
  }
};
// From the result.
template <typename T>
struct TanhBackward {
  KEYWAY_HD constexpr T operator()(T grad, T y) const {
    const Opmath<T> slope = Opmath<T>(1) - opmath(y) * opmath(y);
    if constexpr (ComplexElement<T>) {
      return static_cast<T>(opmath(grad) * conj(slope));
    } else {
      return static_cast<T>(opmath(grad) * slope);
    }
  }
};

template <typename T>
struct EluBackward {
  Opmath<T> alpha;
  Opmath<T> scale;
  Opmath<T> input_scale;
  bool is_result;  // the second tensor is elu's result, not its input

  KEYWAY_HD T operator()(T grad, T self_or_result) const {
    const Opmath<T> g = opmath(grad), v = opmath(self_or_result), slope = alpha * scale;
    if (v > 0) return static_cast<T>(g * scale);
    return static_cast<T>(g * input_scale * (is_result ? v + slope : slope * std::exp(v * input_scale)));
  }
};

template <typename T>
struct HardtanhBackward {
  Opmath<T> min_val;
  Opmath<T> max_val;

  KEYWAY_HD constexpr T operator()(T grad, T x) const {
    const Opmath<T> v = opmath(x);
    return (v <= min_val) | (v >= max_val) ? T() : grad;
  }
};

template <typename T>
struct HardsigmoidBackward {
  KEYWAY_HD constexpr T operator()(T grad, T x) const {
    const Opmath<T> v = opmath(x);
    return (v > -3) & (v < 3) ? static_cast<T>(opmath(grad) / 6) : T(0.0f);
  }
};

template <typename T>
struct HardswishBackward {
  KEYWAY_HD constexpr T operator()(T grad, T x) const {
    const Opmath<T> g = opmath(grad), v = opmath(x);
    const Opmath<T> inside = g * (v / 3 + Opmath<T>(0.5));
    return v < -3 ? T(0.0f) : v <= 3 ? static_cast<T>(inside) : grad;
  }
};

template <typename T>
struct SoftplusBackward {
  Opmath<T> beta;
  Opmath<T> threshold;

  KEYWAY_HD T operator()(T grad, T x) const {
    const Opmath<T> scaled = opmath(x) * beta;
    return scaled > threshold ? grad : static_cast<T>(opmath(grad) * detail::logistic(scaled));
  }
};

template <typename T>
struct LogSigmoidBackward {
  KEYWAY_HD T operator()(T grad, T x) const {
    return static_cast<T>(opmath(grad) * detail::logistic(-opmath(x)));
  }
};

// Hardshrink's and Softshrink's alike.
template <typename T>
struct ShrinkBackward {
  Opmath<T> lambd;

  KEYWAY_HD constexpr T operator()(T grad, T x) const {
    const Opmath<T> v = opmath(x);
    return (v >= -lambd) & (v <= lambd) ? T(0.0f) : grad;
  }
};

}  // namespace keyway::inline v1
