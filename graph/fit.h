// Finds formulas of sizes that give some integers.
#pragma once

#include <keyway/graph/formula.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

// Formulas that give integers[i] for sizes[i], for each i. One, if there is a sum of at most three of a constant, names
// and products of names, with integers as factors, or a sum of all names. Else all sums of a quotient (name + b) // d,
// d at most 64, a name and a constant. Else all products of two quotients, or of one and a name, with d at most 32.
// Requires: as many integers as sizes, which have the same names, are wide apart, and odd and even.
KEYWAY_API std::vector<std::string> fitted_formulas(const std::vector<std::int64_t>& integers,
                                                    const std::vector<Dimensions>& sizes);

// Sizes for which the formulas give the most values: those with one dimension of another size, from its lowest to its
// highest. Nothing if they agree for all of these.
KEYWAY_API std::optional<Dimensions> telling_sizes(const std::vector<std::string>& formulas, const Dimensions& sizes,
                                                   const Dimensions& lowest, const Dimensions& highest);

}  // namespace keyway::inline v1::graph
