// Convolutions in the terms of libraries: dense row-major images and kernels of two or three dimensions.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace keyway::inline v1::cuda {

// Which of x, w and y is computed of the other two.
enum class ConvResult : std::uint8_t { Images, Weights, Outputs };

// x [batch, channels, ...], w [out channels, channels of a group, ...] and y [batch, out channels, ...], the
// convolution of the two. What a library chooses an algorithm by: all but addresses.
struct ConvProblem {
  ConvResult result = ConvResult::Outputs;
  ScalarType dtype = ScalarType::Float;
  int rank = 2;  // spatial dimensions: images of one have a first one of size 1
  int groups = 1;
  std::array<int, 5> x{}, w{}, y{};  // rank + 2 sizes
  std::array<int, 3> padding{}, stride{}, dilation{};

  std::size_t hash() const;
  friend bool operator==(const ConvProblem&, const ConvProblem&) = default;
};

// With lists of one number or one for each spatial dimension. Nothing if something is empty, if a number is larger
// than libraries take, or if y is not of the size that a convolution of x has: what a transposed one is computed from
// may be smaller, where its output padding is a stride or more. Requires: the operator's contracts.
std::optional<ConvProblem> conv_problem(ConvResult result, const TensorBase& x, const TensorBase& w,
                                        const TensorBase& y, IntArrayRef stride, IntArrayRef padding,
                                        IntArrayRef dilation, std::int64_t groups);

}  // namespace keyway::inline v1::cuda
