// Functors of loss scaling: a loss is multiplied before backward, so that gradients of float16 do not become zeros, and
// its gradients are divided before they are used. P. Micikevicius et al., Mixed Precision Training, ICLR 2018.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <cmath>
#ifndef __CUDA_ARCH__
#include <atomic>
#endif

namespace keyway::inline v1 {

// Multiplies gradients, and notes in `found_inf` where one is not finite. A functor of lists (optimizer.h). Pointers
// are to memory of the tensors' device.
template <typename T>
struct UnscaleGradient {
  using Element = T;
  using Math = Opmath<T>;
  static constexpr int kLists = 1;
  struct Prepared {
    Math factor;
  };
  const float* inv_scale;
  float* found_inf;

  KEYWAY_HD bool skips() const { return false; }
  KEYWAY_HD Prepared prepare(const float*) const { return {static_cast<Math>(*inv_scale)}; }
  KEYWAY_HD void operator()(const Prepared& of, T& gradient) const {
    const Math g = opmath(gradient);
    // Of an infinite one the difference is NaN, and so is what it is compared with.
    if (!(g - g == 0)) note();
    gradient = static_cast<T>(of.factor == 1 ? g : g * of.factor);
  }

 private:
  // Several threads may, of the same value.
  KEYWAY_HD void note() const {
#ifdef __CUDA_ARCH__
    *static_cast<volatile float*>(found_inf) = 1;
#else
    std::atomic_ref(*found_inf).store(1, std::memory_order_relaxed);
#endif
  }
};

// The next scale: smaller after gradients that were not finite, larger after `growth_interval` steps without such.
struct NextLossScale {
  double growth_factor, backoff_factor;
  std::int64_t growth_interval;

  template <typename Count>
  KEYWAY_HD void operator()(float found_inf, float& scale, Count& growth_tracker) const {
    if (found_inf != 0) {
      scale = static_cast<float>(scale * backoff_factor);
      growth_tracker = 0;
    } else if (static_cast<std::int64_t>(growth_tracker) == growth_interval - 1) {
      const auto grown = static_cast<float>(scale * growth_factor);
      if (grown - grown == 0) scale = grown;
      growth_tracker = 0;
    } else {
      growth_tracker = static_cast<Count>(static_cast<std::uint64_t>(growth_tracker) + 1);
    }
  }
};

}  // namespace keyway::inline v1
