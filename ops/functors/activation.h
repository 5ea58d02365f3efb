// Activations of neural networks. Their gradients are in activation_backward.h.
#pragma once

#include <keyway/ops/functors/math.h>

#include <string_view>

namespace keyway::inline v1 {

namespace detail {
template <typename T>
KEYWAY_HD inline T logistic(T x) {
  return T(1) / (T(1) + math::exp(-x));
}
// The tanh form of gelu is x/2 (1 + tanh(u)) with u = kGeluScale (x + kGeluCubic x^3).
template <typename T>
inline constexpr T kGeluScale = static_cast<T>(0.797884560802865355879);  // sqrt(2 / pi)
template <typename T>
inline constexpr T kGeluCubic = static_cast<T>(0.044715);
template <typename T>
inline constexpr T kSqrtHalf = static_cast<T>(0.707106781186547524401);
}  // namespace detail

template <typename T>
struct Relu {
  KEYWAY_HD constexpr T operator()(T x) const { return opmath(x) < Opmath<T>() ? T() : x; }
};

template <typename T>
struct LeakyRelu {
  Opmath<T> negative_slope;

  KEYWAY_HD constexpr T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    return static_cast<T>(wide > 0 ? wide : wide * negative_slope);
  }
};

// x Phi(x), Phi being the normal distribution function; `approximate` is "none", or "tanh" for the
// approximation.
template <typename T>
struct Gelu {
  explicit constexpr Gelu(std::string_view approximate) : tanh_form(approximate == "tanh") {}

  KEYWAY_HD T operator()(T x) const {
    const Opmath<T> wide = opmath(x), half = Opmath<T>(0.5);
    if (!tanh_form) return static_cast<T>(half * wide * (1 + std::erf(wide * detail::kSqrtHalf<Opmath<T>>)));
    const Opmath<T> u =
        detail::kGeluScale<Opmath<T>> * (wide + detail::kGeluCubic<Opmath<T>> * wide * wide * wide);
    return static_cast<T>(half * wide * (1 + std::tanh(u)));
  }

  bool tanh_form;
};

template <typename T>
struct Sigmoid {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(detail::logistic(opmath(x))); }
};

// x sigmoid(x).
template <typename T>
struct Silu {
  KEYWAY_HD T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    return static_cast<T>(wide / (Opmath<T>(1) + math::exp(-wide)));
  }
};

// x tanh(softplus(x)).
template <typename T>
struct Mish {
  KEYWAY_HD T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    return static_cast<T>(wide * std::tanh(std::log1p(std::exp(wide))));
  }
};

// scale x for x > 0, else scale alpha (exp(input_scale x) - 1).
template <typename T>
struct Elu {
  Opmath<T> alpha;
  Opmath<T> scale;
  Opmath<T> input_scale;

  KEYWAY_HD T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    return static_cast<T>(wide <= 0 ? std::expm1(wide * input_scale) * (alpha * scale) : wide * scale);
  }
};

// Into [min_val, max_val].
template <typename T>
struct Hardtanh {
  T min_val;
  T max_val;

  KEYWAY_HD constexpr T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    return wide < opmath(min_val) ? min_val : wide > opmath(max_val) ? max_val : x;
  }
};

// clamp(x + 3, 0, 6) / 6.
template <typename T>
struct Hardsigmoid {
  KEYWAY_HD constexpr T operator()(T x) const {
    const Opmath<T> shifted = opmath(x) + 3;
    const Opmath<T> low = shifted < 0 ? Opmath<T>(0) : shifted;
    return static_cast<T>((low > 6 ? Opmath<T>(6) : low) / 6);
  }
};

// x hardsigmoid(x).
template <typename T>
struct Hardswish {
  KEYWAY_HD constexpr T operator()(T x) const {
    const Opmath<T> wide = opmath(x), shifted = wide + 3;
    const Opmath<T> low = shifted < 0 ? Opmath<T>(0) : shifted;
    return static_cast<T>(wide * (low > 6 ? Opmath<T>(6) : low) / 6);
  }
};

// log(1 + e^(beta x)) / beta, and x itself where beta x > threshold.
template <typename T>
struct Softplus {
  Opmath<T> beta;
  Opmath<T> threshold;

  KEYWAY_HD T operator()(T x) const {
    const Opmath<T> wide = opmath(x), scaled = wide * beta;
    return scaled > threshold ? x : static_cast<T>(std::log1p(std::exp(scaled)) / beta);
  }
};

// log(sigmoid(x)), without underflow on the way.
template <typename T>
struct LogSigmoid {
  KEYWAY_HD T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    return static_cast<T>((wide < 0 ? wide : Opmath<T>(0)) - std::log1p(std::exp(-std::fabs(wide))));
  }
};

// x where |x| > lambd, else 0.
template <typename T>
struct Hardshrink {
  Opmath<T> lambd;

  KEYWAY_HD constexpr T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    return (wide >= -lambd) & (wide <= lambd) ? T(0.0f) : x;
  }
};

// x moved towards 0 by lambd.
template <typename T>
struct Softshrink {
  Opmath<T> lambd;

  KEYWAY_HD constexpr T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    const Opmath<T> kept = wide > lambd ? wide - lambd : wide < -lambd ? wide + lambd : wide * 0;
    return static_cast<T>(kept);
  }
};

// x where x > threshold, else value.
template <typename T>
struct Threshold {
  Opmath<T> threshold;
  T value;

  KEYWAY_HD constexpr T operator()(T x) const { return opmath(x) <= threshold ? value : x; }
};

}  // namespace keyway::inline v1
