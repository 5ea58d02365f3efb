// What the loops of the family loss call.
#pragma once

#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1 {

// scale times a parabola of the distance d: d^2 / (2 beta) up to beta, and from there the line that goes on.
template <typename T>
struct SmoothL1 {
  Opmath<T> beta;
  Opmath<T> scale;

  KEYWAY_HD constexpr T operator()(T a, T b) const {
    const Opmath<T> difference = opmath(a) - opmath(b);
    const Opmath<T> distance = difference < 0 ? -difference : difference;
    const Opmath<T> half = Opmath<T>(0.5);
    const Opmath<T> parabola = half * distance * distance / beta, line = distance - half * beta;
    return static_cast<T>(scale * (distance < beta ? parabola : line));
  }
};

// grad times the slope of SmoothL1 along a.
template <typename T>
struct SmoothL1Backward {
  Opmath<T> beta;
  Opmath<T> scale;

  KEYWAY_HD constexpr T operator()(T grad, T a, T b) const {
    const Opmath<T> along = (opmath(a) - opmath(b)) / beta;
    const Opmath<T> raised = along < Opmath<T>(-1) ? Opmath<T>(-1) : along;
    return static_cast<T>(opmath(grad) * scale * (raised > Opmath<T>(1) ? Opmath<T>(1) : raised));
  }
};

}  // namespace keyway::inline v1
