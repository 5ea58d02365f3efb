// The structs over which assembly/wrappers.h and its like work: guard, rule and kernel call of an operator.
#pragma once

#include <keyway/codegen/model/model.h>

#include <string>
#include <string_view>

namespace keyway::inline v1 {

// The struct of an entry, under its schema.
std::string wrapper_struct(const Op& op);

// What `plans::` declares of an operator that contracts call: "void mm(Plan<1>& plan_, const TensorBase& self,
// ...)".
std::string plan_declaration(const Op& op, std::string_view tail);

}  // namespace keyway::inline v1
