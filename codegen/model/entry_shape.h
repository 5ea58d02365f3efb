// The shape of an entry: which keys it has, in which order, with which kinds of values.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/json/json_value.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// The keys of an entry, in the order in which they stand.
std::vector<std::string> entry_keys();

// Whether the value of a key of a file, an entry or a helper is one text.
bool is_text_key(std::string_view key);

// Report what is wrong with the shape and return whether it is right. Then find() gives values of the kinds
// that the tables in entry_shape.cpp list, and items of arrays are strings (those of `requires` may be
// objects).
bool check_entry_shape(const JsonValue& entry, const Report& report);
bool check_family_shape(const JsonValue& family, const Report& report);
bool check_helper_shape(const JsonValue& helper, const Report& report);
bool check_index_contract_shape(const JsonValue& contract, const Report& report);

}  // namespace keyway::inline v1
