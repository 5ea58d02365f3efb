// Activations of neural networks, and their gradients.
#pragma once

#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/math.h>

#include <string_view>

namespace keyway::inline v1 {

namespace detail {
// The tanh form of gelu is x/2 (1 + tanh(u)) = x sigmoid(2u) with u = kGeluScale (x + kGeluCubic x^3).
template <typename T>
inline constexpr T kGeluScale = static_cast<T>(0.797884560802865355879);  // sqrt(2 / pi)
template <typename T>
inline constexpr T kGeluCubic = static_cast<T>(0.044715);

// Beyond 20 it is 1 in double, and the squares would overflow.
template <typename Math, typename T>
KEYWAY_HD inline T tanh_of_softplus(Math m, T x) {
  const T e = m.exp(x < T(20) ? x : T(20));
  const T n = e * (e + 2);
  return n / (n + 2);
}
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

namespace detail {
// x Phi(x), Phi being the normal distribution function.
template <typename T>
struct GeluErf {
  KEYWAY_HD T operator()(T x) const { return with(StandardMath(), x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T x) const {
    using C = Opmath<T>;
    const C v = opmath(x);
    return static_cast<T>(v * m.normal(v).share);
  }
};
template <typename T>
struct GeluTanh {
  KEYWAY_HD T operator()(T x) const { return with(StandardMath(), x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T x) const {
    using C = Opmath<T>;
    const C v = opmath(x);
    return static_cast<T>(v * m.sigmoid(2 * kGeluScale<C> * (v + kGeluCubic<C> * v * v * v)));
  }
};
}  // namespace detail

// `approximate` is "none", or "tanh" for the form with tanh.
template <typename T>
struct Gelu {
  explicit constexpr Gelu(std::string_view approximate) : tanh_form(approximate == "tanh") {}

  template <typename Visitor>
  KEYWAY_HD void choose(Visitor&& visit) const {
    tanh_form ? visit(detail::GeluTanh<T>()) : visit(detail::GeluErf<T>());
  }
  KEYWAY_HD T operator()(T x) const { return tanh_form ? detail::GeluTanh<T>()(x) : detail::GeluErf<T>()(x); }

  bool tanh_form;
};

// x sigmoid(x).
template <typename T>
struct Silu {
  KEYWAY_HD T operator()(T x) const { return with(StandardMath(), x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T x) const {
    const Opmath<T> wide = opmath(x);
    return static_cast<T>(wide * m.sigmoid(wide));
  }
};

// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2).
template <typename T>
struct Mish {
  KEYWAY_HD T operator()(T x) const { return with(StandardMath(), x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T x) const {
    const Opmath<T> wide = opmath(x);
    return static_cast<T>(wide * detail::tanh_of_softplus(m, wide));
  }
};

// scale x for x > 0, else scale alpha (exp(input_scale x) - 1).
template <typename T>
struct Elu {
  Opmath<T> alpha;
  Opmath<T> scale;
  Opmath<T> input_scale;

  KEYWAY_HD T operator()(T x) const { return with(StandardMath(), x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T x) const {
    const Opmath<T> wide = opmath(x);
    const Opmath<T> below = m.expm1(wide * input_scale) * (alpha * scale);
    return static_cast<T>(wide <= 0 ? below : wide * scale);
  }
};

// Into [min_val, max_val]; max_val where there is no such number.
template <typename T>
struct Hardtanh {
  Rounded<T> min_val;
  Rounded<T> max_val;

  KEYWAY_HD constexpr T operator()(T x) const {
    const T least = min_val.value, greatest = max_val.value;
    const T raised = opmath(x) < opmath(least) ? least : x;
    return opmath(raised) > opmath(greatest) ? greatest : raised;
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

  KEYWAY_HD T operator()(T x) const { return with(StandardMath(), x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T x) const {
    const Opmath<T> wide = opmath(x), scaled = wide * beta;
    const Opmath<T> result = m.log1p(m.exp(scaled)) / beta;
    return scaled > threshold ? x : static_cast<T>(result);
  }
};

// log(sigmoid(x)), without underflow on the way.
template <typename T>
struct LogSigmoid {
  KEYWAY_HD T operator()(T x) const { return with(StandardMath(), x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T x) const {
    const Opmath<T> wide = opmath(x);
    return static_cast<T>((wide < 0 ? wide : Opmath<T>(0)) - m.log1p(m.exp(-std::fabs(wide))));
  }
};

// --- Gradients: from the gradient of the result and the input or the result.

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
    const auto normal = m.normal(v);
    return static_cast<T>(g * (normal.share + v * normal.density));
  }
};
template <typename T>
struct GeluTanhBackward {
  KEYWAY_HD T operator()(T grad, T x) const { return with(StandardMath(), grad, x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T x) const {
    using C = Opmath<T>;
    const C g = opmath(grad), v = opmath(x);
    const C s = m.sigmoid(2 * kGeluScale<C> * (v + kGeluCubic<C> * v * v * v));
    const C slope = 2 * kGeluScale<C> * (1 + 3 * kGeluCubic<C> * v * v);
    const C bend = v * s * (1 - s);  // 0 where the slope may be infinite
    return static_cast<T>(g * (bend == 0 ? s : s + bend * slope));
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
    if constexpr (ComplexElement<T>) {
      return static_cast<T>(opmath(grad) * conj(s * (one + v * (one - s))));
    } else {
      return static_cast<T>(opmath(grad) * s * (one + v * (one - s)));
    }
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

namespace detail {
// `is_result`: the second tensor is elu's result, not its input.
template <typename T, bool is_result>
struct EluSlope {
  Opmath<T> slope;
  Opmath<T> scale;
  Opmath<T> input_scale;

  KEYWAY_HD T operator()(T grad, T self_or_result) const { return with(StandardMath(), grad, self_or_result); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T grad, T self_or_result) const {
    const Opmath<T> g = opmath(grad), v = opmath(self_or_result);
    Opmath<T> below;
    if constexpr (is_result) {
      below = v + slope;
    } else {
      below = slope * m.exp(v * input_scale);
    }
    below *= g * input_scale;
    return static_cast<T>(v > 0 ? g * scale : below);
  }
};
}  // namespace detail

template <typename T>
struct EluBackward {
  Opmath<T> alpha;
  Opmath<T> scale;
  Opmath<T> input_scale;
  bool is_result;

  template <typename Visitor>
  KEYWAY_HD void choose(Visitor&& visit) const {
    const Opmath<T> slope = alpha * scale;
    if (is_result) return visit(detail::EluSlope<T, true>{slope, scale, input_scale});
    visit(detail::EluSlope<T, false>{slope, scale, input_scale});
  }
  KEYWAY_HD T operator()(T grad, T self_or_result) const {
    T result;
    choose([&](const auto& form) { result = form(grad, self_or_result); });
    return result;
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
    return v <= -3 ? T(0.0f) : v < 3 ? static_cast<T>(inside) : grad;
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

}  // namespace keyway::inline v1
