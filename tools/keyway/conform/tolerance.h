// How far a result may be from what it should be.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

// What a result is held against.
struct Expected {
  TensorBase cpu;             // what the CPU gives for the same arguments
  TensorBase exact;           // what it gives in float64 or complex128; undefined where that cannot be asked
  bool is_pointwise = false;  // each element is a function of few numbers, and not a sum of many
  // Of a pointwise function: how far the CPU errs for other arguments, in ulp.
  double error_elsewhere = 0;
  // Of a pointwise function: that IEEE 754 rounds correctly everywhere, and not only where somebody takes pains.
  bool is_basic = true;
  // What the result was computed in, if it was written to a tensor of a wider dtype.
  std::optional<ScalarType> computed_in = std::nullopt;
  double greatest_term = 0;     // of sums: what is known of the magnitude of their terms
  double error_in_float32 = 0;  // of sums in float64: by how many ulp the CPU errs in a call in float32
  // Of others: what the CPU gives for arguments that differ in their last bits.
  std::vector<TensorBase> nearby = {};
};

// Where `got`, a tensor of the CPU, differs in value; empty if nowhere. Requires: both have one dtype and one shape.
//
// Integers and booleans are equal. A float may err by as much as the CPU does, in units in the last place (ulp), and a
// little more:
//   pointwise, where the CPU rounds correctly         0.51 ulp: another rounding does not pass; 4 ulp of float32,
//                                                     unless it is a basic operation, as a product
//   pointwise otherwise                               four times the CPU's greatest error, at least 4 ulp
//   sums of many, in ulp of the greatest element      four times the CPU's error, at least 16 ulp; of float16 and
//                                                     narrower 1 ulp, since they are summed in float32; 32 where
//                                                     the CPU's error is not known, as in float64, or four times
//                                                     its error in a call in float32
// A result that is no pointwise one may also be off by four times what differs between those of arguments that differ
// in their last bits, computed in float64 and in the dtype itself: a difference of great numbers, say. NaN and
// infinities are where the CPU has them, or where the exact result has; in complex results that are no pointwise ones,
// numbers with such a part may stand for one another. Zeros of real pointwise results have the CPU's sign.
std::string value_difference(const TensorBase& got, const Expected& expected);
// How far floats are from the exact ones, each in units of its own last place.
double greatest_error(const TensorBase& cpu, const TensorBase& exact);
// How far they are from these in units of the greatest.
double error_of_sums(const TensorBase& cpu, const TensorBase& exact);

// Whether the bytes of the elements are equal; NaN is equal to NaN.
bool same_bits(const TensorBase& a, const TensorBase& b);

}  // namespace keyway::inline v1::tools
