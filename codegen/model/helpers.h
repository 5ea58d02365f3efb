// Helpers: the C++ functions that formulas of derivatives call besides operators, as the key `helpers` of a schema file
// declares them.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/json/json_value.h>
#include <keyway/codegen/model/model.h>

#include <optional>
#include <vector>

namespace keyway::inline v1 {

// A schema, or nothing if it does not parse, which is reported.
std::optional<OwnedSchema> read_schema(const LocatedText& func, const Report& report);

// Those of a file. Requires: the file has the shape of a family.
std::vector<Helper> read_helpers(const JsonValue& file, const Report& report);

// Reports helpers that stand twice, or that no formula calls.
void check_helpers(const std::vector<Family>& families, Diagnostics& diagnostics);

}  // namespace keyway::inline v1
