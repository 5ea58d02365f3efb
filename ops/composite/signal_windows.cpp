// Windows of signals, computed in double precision and rounded once.
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/ops/all.h>
#include <keyway/ops/composite/options.h>
#include <keyway/ops/signal_windows_composites.h>

#include <numbers>

namespace keyway::inline v1::composite {

namespace {

// shape(x) at points from 0 on, of which one period has as many as the window, or in a symmetric one, one fewer.
Tensor window(std::int64_t length, bool periodic, const TensorOptions& options, const auto& shape) {
  if (length == 1) return keyway::ones({1}, options);
  const auto period = static_cast<double>(periodic ? length : length - 1);
  const Tensor points = keyway::arange(length, TensorOptions(options).dtype(kDouble).pinned_memory(false));
  return keyway::empty({length}, options).copy_(shape(points / period));
}

// The cosine of `times` turns in one period.
Tensor cosine(const Tensor& x, int times) { return (x * (2 * std::numbers::pi * times)).cos(); }

}  // namespace

Tensor bartlett_window(std::int64_t window_length, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return bartlett_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor bartlett_window_periodic(std::int64_t window_length, bool periodic, DType dtype, LayoutArg layout,
                                DeviceArg device, Pin pin_memory) {
  return window(window_length, periodic, options_of(dtype, layout, device, pin_memory),
                [](const Tensor& x) { return 1 - (x * 2 - 1).abs(); });
}

Tensor blackman_window(std::int64_t window_length, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return blackman_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor blackman_window_periodic(std::int64_t window_length, bool periodic, DType dtype, LayoutArg layout,
                                DeviceArg device, Pin pin_memory) {
  return window(window_length, periodic, options_of(dtype, layout, device, pin_memory),
                [](const Tensor& x) { return 0.42 - cosine(x, 1) * 0.5 + cosine(x, 2) * 0.08; });
}

Tensor hamming_window(std::int64_t window_length, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return hamming_window_alpha_beta(window_length, true, 0.54, 0.46, dtype, layout, device, pin_memory);
}

Tensor hamming_window_periodic(std::int64_t window_length, bool periodic, DType dtype, LayoutArg layout,
                               DeviceArg device, Pin pin_memory) {
  return hamming_window_alpha_beta(window_length, periodic, 0.54, 0.46, dtype, layout, device, pin_memory);
}

Tensor hamming_window_alpha(std::int64_t window_length, bool periodic, double alpha, DType dtype, LayoutArg layout,
                            DeviceArg device, Pin pin_memory) {
  return hamming_window_alpha_beta(window_length, periodic, alpha, 0.46, dtype, layout, device, pin_memory);
}

Tensor hamming_window_alpha_beta(std::int64_t window_length, bool periodic, double alpha, double beta, DType dtype,
                                 LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return window(window_length, periodic, options_of(dtype, layout, device, pin_memory),
                [=](const Tensor& x) { return alpha - cosine(x, 1) * beta; });
}

Tensor hann_window(std::int64_t window_length, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return hamming_window_alpha_beta(window_length, true, 0.5, 0.5, dtype, layout, device, pin_memory);
}

Tensor hann_window_periodic(std::int64_t window_length, bool periodic, DType dtype, LayoutArg layout, DeviceArg device,
                            Pin pin_memory) {
  return hamming_window_alpha_beta(window_length, periodic, 0.5, 0.5, dtype, layout, device, pin_memory);
}

Tensor kaiser_window(std::int64_t window_length, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return kaiser_window_periodic(window_length, true, dtype, layout, device, pin_memory);
}

Tensor kaiser_window_beta(std::int64_t window_length, bool periodic, double beta, DType dtype, LayoutArg layout,
                          DeviceArg device, Pin pin_memory) {
  return window(window_length, periodic, options_of(dtype, layout, device, pin_memory), [=](const Tensor& x) {
    const Tensor inside = 1 - (x * 2 - 1).square();
    const Tensor peak = keyway::scalar_tensor(beta, inside.options());
    return (inside.sqrt() * beta).i0() / peak.i0();
  });
}

Tensor kaiser_window_periodic(std::int64_t window_length, bool periodic, DType dtype, LayoutArg layout,
                              DeviceArg device, Pin pin_memory) {
  return kaiser_window_beta(window_length, periodic, 12, dtype, layout, device, pin_memory);
}

}  // namespace keyway::inline v1::composite
