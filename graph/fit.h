// Finds the formula of sizes that gives some integers.
#pragma once

#include <keyway/graph/formula.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

// The first of these that gives integers[i] for sizes[i], for each i: a sum of at most three of a constant, names and
// products of names, with integers as factors; a sum of all names; a quotient (name + b) // d with d at most 64;
// products of two such quotients, or of one and a name, with a factor. Nothing if none does. Requires: as many integers
// as sizes, which have the same names. The more, the surer.
std::optional<std::string> fitted_formula(const std::vector<std::int64_t>& integers,
                                          const std::vector<Dimensions>& sizes);

}  // namespace keyway::inline v1::graph
