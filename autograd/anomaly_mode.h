// Anomaly mode: finds the call whose gradient fails, or is not a number. For debugging, since it is slow.
//
// While it is on, each node remembers where its call was made: in whose backward, and from Python also the stack. When
// the backward of a node throws, the error says which node it was, and what is remembered of it: a keyway::Error of a
// program in C++ in its text, other exceptions by a warning; in a program in Python warnings say it of all.
#pragma once

#include <keyway/core/base/macros.h>

#include <atomic>
#include <cstdint>

namespace keyway::inline v1::autograd {

namespace detail {
inline constexpr std::uint8_t kAnomalyEnabled = 1;
inline constexpr std::uint8_t kAnomalyChecksNan = 2;
// Both in one word, so that who changes the mode changes it at once.
extern KEYWAY_API constinit std::atomic<std::uint8_t> anomaly_mode;
}  // namespace detail

// Of the whole process; may be changed by any thread at any time.
class AnomalyMode {
 public:
  static bool is_enabled() { return (state() & detail::kAnomalyEnabled) != 0; }
  // Whether the mode, if it is on, also looks at what each node returns: a NaN among its elements is an error.
  static bool should_check_nan() { return (state() & detail::kAnomalyChecksNan) != 0; }
  static void set_enabled(bool enabled, bool check_nan = true) {
    const int state = (enabled ? detail::kAnomalyEnabled : 0) | (check_nan ? detail::kAnomalyChecksNan : 0);
    detail::anomaly_mode.store(static_cast<std::uint8_t>(state), std::memory_order_relaxed);
  }

 private:
  static std::uint8_t state() { return detail::anomaly_mode.load(std::memory_order_relaxed); }
};

// Turns the mode on until it goes, and then to what it was before.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true) { AnomalyMode::set_enabled(true, check_nan); }
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(enabled_before_, check_nan_before_); }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool enabled_before_ = AnomalyMode::is_enabled();
  bool check_nan_before_ = AnomalyMode::should_check_nan();
};

}  // namespace keyway::inline v1::autograd
