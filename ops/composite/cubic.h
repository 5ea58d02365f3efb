// Cubic convolution: R. G. Keys, "Cubic convolution interpolation for digital image processing", 1981. What it weighs
// an element with depends on its distance and on a parameter `a`, the slope at distance 1.
#pragma once

#include <keyway/ops/all.h>

#include <array>

namespace keyway::inline v1::composite {

// Of images: what PyTorch and OpenCV take. With antialiasing PyTorch and Pillow take -0.5.
inline constexpr double kCubicSlope = -0.75, kAntialiasedCubicSlope = -0.5;

// At distances in [0, 1].
inline Tensor cubic_near(const Tensor& distance, double a) {
  return (distance * (a + 2) - (a + 3)) * distance * distance + 1;
}
// In [1, 2].
inline Tensor cubic_far(const Tensor& distance, double a) {
  return ((distance * a - 5 * a) * distance + 8 * a) * distance - 4 * a;
}

// Of the two elements before a position and the two behind it; `t` is how far it lies behind the second, in [0, 1).
inline std::array<Tensor, 4> cubic_weights(const Tensor& t, double a) {
  return {cubic_far(t + 1, a), cubic_near(t, a), cubic_near(1 - t, a), cubic_far(2 - t, a)};
}

}  // namespace keyway::inline v1::composite
