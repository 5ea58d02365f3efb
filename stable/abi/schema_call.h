// Operators as C functions whose parameters follow from the schema:
//
//   Tensor                  AtenTensorHandle, borrowed
//   int; float, Scalar      int64_t; double
//   bool and enumerations   int32_t
//   Device                  int32_t type, int32_t index
//   str                     const char*
//   T?                      T*, null if absent; of a device only the type is a pointer
//   T[]                     const T*, int64_t length
//
// Tensors that an overload writes to, as its last word `out` says, come first. Behind the arguments there is a pointer
// for each result, which is a new handle; overloads that write to their arguments have none.
#pragma once

#include <keyway/stable/abi.h>

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

namespace keyway::inline v1::abi {

// A parameter as 64 bits: an integer, the bits of a double, or an address.
template <typename T>
std::uint64_t word_of(T parameter) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uint64_t>(parameter);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(parameter);
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(parameter));
  }
}

// Calls an operator of Keyway's own namespace with the parameters of such a function.
AOTITorchError call_by_schema(const char* function, const char* op, std::span<const std::uint64_t> parameters) noexcept;

}  // namespace keyway::inline v1::abi
