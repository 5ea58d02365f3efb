// The functors of pointwise operators, generated from the entries of schemas (codegen/emit/emit_functors.cpp).
// Internal to backends/cuda/graph.
#pragma once

#include <cstddef>
#include <string_view>

namespace keyway::inline v1::cuda {

// A member that a functor is initialised with: an argument of the operator (ops/functors/argument.h).
struct FunctorMember {
  int argument = -1;        // its position; -1: there are no more members
  bool is_operand = false;  // wrapped by operand(), not argument()
};

struct FunctorInfo {
  static constexpr int kMostMembers = 8;

  std::string_view op;      // "keyway::add.Tensor", the functional overload
  std::string_view family;  // "binary": the functor is in ops/functors/binary.h
  std::string_view name;    // "Add"
  int loop_tensor;          // the position of the tensor whose dtype the functor is instantiated for
  unsigned promoted;        // positions of tensors that are converted to one dtype before, one bit each
  FunctorMember members[kMostMembers];
};

extern const FunctorInfo kFunctors[];  // sorted by op
extern const std::size_t kFunctorCount;

}  // namespace keyway::inline v1::cuda
