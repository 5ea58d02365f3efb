// load and store: elements of tensors in device code, and several of them in registers. Internal to backends/cuda.
#pragma once

#include <cstdint>
#include <cstring>
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

// Neighbours that the kernel does not read again: they leave the nearest cache to others. It may not have written them.
template <typename T, int width>
__device__ Vector<T, width> load_once(const Vector<T, width>* at) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(*at) == 16) {
    std::uint32_t words[4];
    asm("ld.global.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
        : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
        : "l"(at));
    Vector<T, width> all;
    std::memcpy(&all, words, sizeof(all));
    return all;
  }
#endif
  return *at;
}

}  // namespace keyway::inline v1::cuda::detail
