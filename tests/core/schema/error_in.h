// What is wrong with the text of a schema.
#pragma once

#include <keyway/core/schema/parser.h>

#include <string>
#include <string_view>

namespace keyway::inline v1::testing {

// "column: message", or "ok".
inline std::string error_in(std::string_view text) {
  const ParseResult result = parse_schema(text);
  return result.ok() ? "ok" : std::to_string(result.column()) + ": " + result.message();
}

}  // namespace keyway::inline v1::testing
