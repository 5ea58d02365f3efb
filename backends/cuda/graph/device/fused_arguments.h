// FusedArguments: what a kernel of several pointwise calls is told of its launch, for host code and kernels alike.
// Internal to backends/cuda/graph.
#pragma once

#include <keyway/backends/cuda/divisor.h>
#include <keyway/core/base/macros.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

inline constexpr unsigned kFusedThreads = 256;

// A number that is an argument of a call. It converts as Scalar does (core/dtype/scalar.h), of numbers that a call was
// made with before, and so has found to be in range.
struct FusedNumber {
  double real = 0;
  std::int64_t integer = 0;
  bool is_integer = false;

  template <typename T>
  KEYWAY_HD constexpr T to() const {
    return is_integer ? static_cast<T>(integer) : static_cast<T>(real);
  }
  // What is beyond the range of a float is infinity, as operand() has it.
  template <typename T>
  KEYWAY_HD constexpr bool try_to(T& result) const {
    result = to<T>();
    return true;
  }
  KEYWAY_HD static constexpr bool is_complex() { return false; }
};

struct FusedArguments {
  static constexpr int kMaxRank = 6, kMostOperands = 16, kMostNumbers = 24;

  int rank = 0;
  std::uint32_t numel = 1;                             // less than 2^31
  Divisor sizes[kMaxRank];                             // the innermost dimension first
  std::int64_t strides[kMaxRank][kMostOperands] = {};  // in bytes; 0 where an operand is broadcast
  char* data[kMostOperands] = {};
  FusedNumber numbers[kMostNumbers];

  // How far an element of each of the first N operands is from its data.
  template <int N>
  KEYWAY_HD void locate(std::uint32_t element, std::int64_t (&offset)[N]) const {
    for (int k = 0; k < N; ++k) offset[k] = 0;
    for (int d = 0; d < rank; ++d) {
      const std::uint32_t next = d + 1 < rank ? sizes[d].quotient(element) : 0;
      const std::uint32_t here = element - next * sizes[d].value;
      for (int k = 0; k < N; ++k) offset[k] += here * strides[d][k];
      element = next;
    }
  }
};

}  // namespace keyway::inline v1::cuda
