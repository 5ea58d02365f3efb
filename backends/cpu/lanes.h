// Sums and maxima along contiguous elements in a fixed number of lanes, so that the compiler makes vector code
// of them and the result is the same on every instruction set. For the bodies of level functions (level.h).
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <algorithm>
#include <cstdint>

namespace keyway::inline v1 {

inline constexpr int kLanes = 32;

// The sum of value(0) to value(n - 1). Lanes take at most 128 values one after another; the sums of such
// blocks are added in double.
template <typename Acc, typename F>
[[gnu::always_inline]] inline Acc lane_sum(std::int64_t n, const F& value) {
  constexpr std::int64_t kBlock = 128 * kLanes;
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = std::min(n, begin + kBlock);
    Acc lanes[kLanes] = {};
    std::int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (int j = 0; j < kLanes; ++j) lanes[j] += value(i + j);
    }
    Acc all[kLanes];  // of memory; lanes stay in registers
    for (int j = 0; j < kLanes; ++j) all[j] = lanes[j];
    for (int j = 0; i + j < end; ++j) all[j] += value(i + j);
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) all[j] += all[j + half];
    }
    total += static_cast<double>(all[0]);
  }
  return static_cast<Acc>(total);
}

// The greatest of value(0) to value(n - 1) that is a number; -inf if there is none.
template <typename Acc, typename F>
[[gnu::always_inline]] inline Acc lane_max(std::int64_t n, const F& value) {
  Acc lanes[kLanes];
  for (int j = 0; j < kLanes; ++j) lanes[j] = lowest_value<Acc>();
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const Acc x = value(i + j);
      lanes[j] = x > lanes[j] ? x : lanes[j];
    }
  }
  Acc all[kLanes];
  for (int j = 0; j < kLanes; ++j) all[j] = lanes[j];
  for (int j = 0; i + j < n; ++j) {
    const Acc x = value(i + j);
    all[j] = x > all[j] ? x : all[j];
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) all[j] = all[j + half] > all[j] ? all[j + half] : all[j];
  }
  return all[0];
}

}  // namespace keyway::inline v1
