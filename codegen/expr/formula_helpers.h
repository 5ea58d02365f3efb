// The functions that derivative formulas may call besides operators: those of autograd/formulas/formulas.h, with their
// types. A `Tensor?` among the parameters may be an undefined gradient.
#pragma once

#include <keyway/codegen/expr/signature.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// The overloads of a helper; empty if there are none.
std::vector<Signature> helpers_named(std::string_view name);
std::vector<std::string> known_helpers();

}  // namespace keyway::inline v1
