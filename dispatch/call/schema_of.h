// schema_of<"my::scale">: the schema of an operator as the compiler sees it. Generated headers have it; for an operator
// that is defined by hand, KEYWAY_SCHEMA (library.h) says it.
#pragma once

#include <keyway/core/schema/fixed_string.h>

#include <string_view>

namespace keyway::inline v1 {

// By "ns::name.overload", or "name.overload" for Keyway's own. Empty: the compiler sees none.
template <FixedString name>
inline constexpr std::string_view schema_of = {};

}  // namespace keyway::inline v1
