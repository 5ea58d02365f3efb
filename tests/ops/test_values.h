// Values for tests: pairwise distinct, far from where functions have kinks, within the domain of an operator's entry.
#pragma once

#include <keyway/tensor.h>

#include <string_view>

namespace keyway::inline v1::testing {

// The interval of one argument.
struct Interval {
  double low = -2;
  double high = 2;
};

// What the lines of a domain say of an argument: "name > number", "name < number", "number < name < number".
Interval interval_of(std::string_view domain, std::string_view argument);

// A tensor of these values. `first` counts the values that were given out before, so that no two tensors of a call
// share one. Integers are 1, 2, 3, 1, 2, ...; bools alternate.
Tensor test_values(IntArrayRef sizes, ScalarType dtype, Interval interval, std::size_t& first);

}  // namespace keyway::inline v1::testing
