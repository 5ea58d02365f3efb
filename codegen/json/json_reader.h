// read_json: parses a document and keeps the places of its values.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/json/json_value.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace keyway::inline v1 {

// What a document may be at most. Far more than a schema file needs, far less than it takes to exhaust a
// machine.
struct JsonLimits {
  std::size_t bytes = std::size_t{16} << 20;
  std::size_t string_bytes = std::size_t{64} << 10;
  std::size_t depth = 32;
};

// The document, or nothing after an error has been reported: a syntax error, a duplicate key (all of them,
// with both places), or a limit exceeded.
std::optional<JsonValue> read_json(std::string_view text, const Report& report, const JsonLimits& limits = {});

}  // namespace keyway::inline v1
