// Finds the formula of sizes that gives some integers.
#pragma once

#include <keyway/graph/formula.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

// The first of these that gives integers[i] for sizes[i], for each i: a sum of at most three of a constant, names and
// products of names, with integers as factors; a sum of all names; a sum of a quotient (name + b) // d, d at most 64, a
// name and a constant; a product of two quotients, or of one and a name, with d at most 32. Nothing if none does.
// Requires: as many integers as sizes, which have the same names.
//
// What it gives is as sure as the sizes are different: odd ones, such as primes, cannot tell (n - 1) // 2 from n // 2,
// and only 2 * d that follow one another tell each (n + b) // d from all others.
KEYWAY_API std::optional<std::string> fitted_formula(const std::vector<std::int64_t>& integers,
                                                     const std::vector<Dimensions>& sizes);

}  // namespace keyway::inline v1::graph
