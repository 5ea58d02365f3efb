// The operators that Keyway has of ONNX's. A family is a file of operators/; its rows are constants.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/onnx/import/program/program.h>

#include <string_view>
#include <vector>

namespace keyway::inline v1::onnx {

// The newest version of a domain that Keyway knows; 0 if it does not know the domain.
int newest_version(std::string_view domain);

// The operator as a version of its domain has it; null if there is none.
const Operator* find_operator(std::string_view domain, std::string_view name, int version);

// All rows.
std::vector<const Operator*> all_operators();

using Family = ArrayRef<Operator>;

}  // namespace keyway::inline v1::onnx
