// load and store: elements of tensors in device code, and several of them in registers. Internal to backends/cuda.
#pragma once

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1::cuda::detail {

// A bool is a byte, of which other values than 0 and 1 are true.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <typename T>
__device__ T load(const char* at) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const std::uint8_t*>(at) != 0;
  } else {
    return *reinterpret_cast<const T*>(at);
  }
}
template <typename T>
__device__ void store(char* at, T value) {
  *reinterpret_cast<Stored<T>*>(at) = value;
}

// Values that are to come. In an array a complex would be constructed by a call for each element, which not every
// level of optimisation inlines: ptxas then cannot tell how large a stack the kernel needs.
template <typename T, int M>
struct Some {
  static_assert(std::is_trivially_copyable_v<T>);
  __device__ Some() {}  // NOLINT: constructs nothing
  union {
    T of[M];
  };
};

// Neighbours, for one access. Requires: the address is a multiple of the size.
template <typename T, int width>
struct alignas(sizeof(T) * width) Vector : Some<Stored<T>, width> {};

}  // namespace keyway::inline v1::cuda::detail
