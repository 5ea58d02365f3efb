// Helpers: the C++ functions that formulas of derivatives call besides operators, as the key `helpers` of a schema file
// declares them.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/expr/function_table.h>
#include <keyway/codegen/json/json_value.h>
#include <keyway/codegen/model/model.h>

#include <vector>

namespace keyway::inline v1 {

// Those of a file. Requires: the file has the shape of a family.
std::vector<Helper> read_helpers(const JsonValue& file, const Report& report);

// Reports helpers that stand twice, that no formula calls, or whose name formulas know already: they would call that.
void check_helpers(const std::vector<Family>& families, const FunctionTable& functions, Diagnostics& diagnostics);

}  // namespace keyway::inline v1
