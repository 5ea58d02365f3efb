// Formulas: the integers of a program for all sizes, "batch * (height // 2) + 1". Names are those of dimensions.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/schema/lexer.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::graph {

// The sizes of dimensions that have names.
using Dimensions = std::map<std::string, std::int64_t, std::less<>>;

// Reads a formula: integers, names, parentheses, +, -, * and //, which divides by a positive constant and rounds down,
// as in Python. Throws keyway::Error(Parse) for what is none, for a name that has no size, and for a value that 64 bits
// do not hold.
std::int64_t parse_formula(detail::Lexer& lexer, const Dimensions& dimensions);
// The same of a whole text.
KEYWAY_API std::int64_t evaluate(std::string_view formula, const Dimensions& dimensions);

// The names in a formula, each once, in their order. What is no formula has some, too.
std::vector<std::string> names_in(std::string_view formula);

// Lets the one name of a formula that has no size yet have the size for which the formula has that value, and returns
// whether the formula then has it. False if more names than one have no size.
KEYWAY_API bool solve(std::string_view formula, std::int64_t value, Dimensions& dimensions);

}  // namespace keyway::inline v1::graph
