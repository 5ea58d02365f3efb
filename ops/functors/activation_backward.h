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

namespace detail {
template <typename T>
struct GeluErfBackward {
  KEYWAY_HD T operator()(T grad, T x) const { return with(StandardMath(), grad, x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T x) const {
    using C = Opmath<T>;
    const C g = opmath(grad), v = opmath(x);
    const C cdf = C(0.5) * (1 + m.coarse_erf(v * kSqrtHalf<C>));
    const C pdf = m.exp(C(-0.5) * v * v) * (kGeluScale<C> * C(0.5));
    return static_cast<T>(g * (cdf + v * pdf));
  }
};
template <typename T>
struct GeluTanhBackward {
  KEYWAY_HD T operator()(T grad, T x) const { return with(StandardMath(), grad, x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T x) const {
    using C = Opmath<T>;
    const C g = opmath(grad), v = opmath(x);
    const C t = m.tanh(kGeluScale<C> * (v + kGeluCubic<C> * v * v * v));
    const C slope = kGeluScale<C> * (1 + 3 * kGeluCubic<C> * v * v);
    return static_cast<T>(g * (C(0.5) * (1 + t) + C(0.5) * v * (1 - t * t) * slope));
  }
};
}  // namespace detail

template <typename T>
struct GeluBackward {
  explicit constexpr GeluBackward(std::string_view approximate) : tanh_form(approximate == "tanh") {}

  template <typename Visitor>
  KEYWAY_HD void choose(Visitor&& visit) const {
    tanh_form ? visit(detail::GeluTanhBackward<T>()) : visit(detail::GeluErfBackward<T>());
  }
  KEYWAY_HD T operator()(T grad, T x) const {
    return tanh_form ? detail::GeluTanhBackward<T>()(grad, x) : detail::GeluErfBackward<T>()(grad, x);
  }

  bool tanh_form;
};

template <typename T>
struct SiluBackward {
  KEYWAY_HD T operator()(T grad, T x) const { return with(StandardMath(), grad, x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T x) const {
    const Opmath<T> v = opmath(x), one(1);
    const Opmath<T> s = m.sigmoid(v);
    return static_cast<T>(opmath(grad) * s * (one + v * (one - s)));
  }
};

template <typename T>
struct MishBackward {
  KEYWAY_HD T operator()(T grad, T x) const { return with(StandardMath(), grad, x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T x) const {
    const Opmath<T> v = opmath(x);
    const Opmath<T> t = detail::tanh_of_softplus(m, v);
    return static_cast<T>(opmath(grad) * (t + v * m.sigmoid(v) * (1 - t * t)));
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

  KEYWAY_HD T operator()(T grad, T self_or_result) const { return with(StandardMath(), grad, self_or_result); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T self_or_result) const {
    const Opmath<T> g = opmath(grad), v = opmath(self_or_result), slope = alpha * scale;
    const Opmath<T> of_input = slope * m.exp(v * input_scale), of_result = v + slope;
    const Opmath<T> below = is_result ? of_result : of_input;
    return static_cast<T>(v > 0 ? g * scale : g * input_scale * below);
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

  KEYWAY_HD T operator()(T grad, T x) const { return with(StandardMath(), grad, x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T x) const {
    const Opmath<T> scaled = opmath(x) * beta;
    const Opmath<T> result = opmath(grad) * m.sigmoid(scaled);
    return scaled > threshold ? grad : static_cast<T>(result);
  }
};

template <typename T>
struct LogSigmoidBackward {
  KEYWAY_HD T operator()(T grad, T x) const { return with(StandardMath(), grad, x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T x) const {
    return static_cast<T>(opmath(grad) * m.sigmoid(-opmath(x)));
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
