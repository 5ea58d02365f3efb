// Fourier transforms in the terms of libraries: of the last dimensions, at most three, of row-major complex numbers.
#pragma once

#include <keyway/core/base/small_vector.h>
#include <keyway/core/tensor/tensor_base.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace keyway::inline v1::cuda {

// What a library makes a plan for.
struct FourierProblem {
  ScalarType dtype = ScalarType::ComplexFloat;
  std::size_t rank = 1;                 // dimensions that are transformed
  std::array<std::int64_t, 3> sizes{};  // theirs
  std::int64_t batch = 1;               // of how many such transforms

  std::size_t hash() const;
  friend bool operator==(const FourierProblem&, const FourierProblem&) = default;
};

inline constexpr std::size_t kMostFourierDims = 3;

// That of the last `rank` dimensions of `tensor`. Requires: it is not empty, and 0 < rank <= kMostFourierDims.
FourierProblem fourier_problem(const TensorBase& tensor, std::size_t rank);

// The numbers of the dimensions, ascending, along which a transform changes something: those of more than one element.
// Requires: the operator's contracts.
DimVector transformed_dims(const TensorBase& tensor, IntArrayRef dim);

// `tensor` with the dimensions `last` behind the others. Requires: they ascend.
TensorBase with_last(const TensorBase& tensor, IntArrayRef last);
// What with_last made a tensor of.
TensorBase without_last(const TensorBase& tensor, IntArrayRef last);

}  // namespace keyway::inline v1::cuda
