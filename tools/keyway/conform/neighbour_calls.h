// NeighbourCalls: a reference's calls beside the one that is judged, from which it is seen how far a float may be off:
// in higher precision, with arguments that differ in their last bits, and with many other numbers.
#pragma once

#include <keyway/tools/keyway/conform/reference.h>
#include <keyway/tools/keyway/conform/tolerance.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

class NeighbourCalls {
 public:
  // Requires: both outlive it.
  NeighbourCalls(const ConformOperator& op, const Reference& reference) : op_(op), reference_(reference) {}

  // With arguments in float64 and complex128; a call without results where the reference refuses them, they are of
  // these dtypes already, or they share memory.
  ConformCall exact(const std::vector<Value>& values) const;
  // With each number changed by as many units as float32 would round it by, if the call has narrower floats than
  // float64; with `in_own_dtype`, as the narrowest of them would. A step that is rounded is made in that dtype, as the
  // call is then: how the reference itself errs nearby. Complex numbers that are no tensors change, too.
  struct Step {
    int units;
    bool is_rounded = false;
  };
  ConformCall nearby(const std::vector<Value>& values, Step step, bool in_own_dtype = false) const;

  // `find` is where the tensor is in another call with the same arguments; undefined if it is not there.
  using Find = std::function<TensorBase(const ConformCall&)>;
  // value_difference with what is allowed beyond `expected` found out where it is needed.
  std::string float_difference(const std::vector<Value>& values, const TensorBase& got, Expected expected,
                               const Find& find, bool in_own_dtype = false) const;

 private:
  double error_elsewhere(const std::vector<Value>& values) const;
  double error_in_float32(std::vector<Value> values, const Find& find) const;

  const ConformOperator& op_;
  const Reference& reference_;
};

// The narrowest float among the tensors.
std::optional<ScalarType> narrowest_float(const std::vector<TensorBase>& tensors);
// A tensor of higher precision for a float or complex one.
TensorBase widened(const TensorBase& tensor);

}  // namespace keyway::inline v1::tools
