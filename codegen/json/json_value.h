// JsonValue: a JSON document in which every value and key knows its line and column.
#pragma once

#include <keyway/codegen/base/place.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

enum class JsonKind : std::uint8_t { Null, Bool, Number, String, Array, Object };

// "a string", "an array", ...: as it stands in an error.
std::string_view to_string(JsonKind kind);

struct JsonMember;

struct JsonValue {
  JsonKind kind = JsonKind::Null;
  bool flag = false;                // Bool
  LocatedText text;                 // String: its text; Number: its spelling; of all: the place
  std::vector<JsonValue> items;     // Array
  std::vector<JsonMember> members;  // Object: in the file's order, no key twice

  static JsonValue of(JsonKind kind, LocatedText text = {});

  Place place() const { return text.place; }
  // The value of a member; null without one, as in what is no Object.
  const JsonValue* find(std::string_view key) const;
  // The same of that kind alone.
  const JsonValue* find(std::string_view key, JsonKind wanted) const;
};

struct JsonMember {
  LocatedText key;
  JsonValue value;
};

}  // namespace keyway::inline v1
