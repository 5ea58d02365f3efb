#include <keyway/codegen/json/json_value.h>

#include <utility>

namespace keyway::inline v1 {

std::string_view to_string(JsonKind kind) {
  switch (kind) {
    case JsonKind::Null: return "null";
    case JsonKind::Bool: return "true or false";
    case JsonKind::Number: return "a number";
    case JsonKind::String: return "a string";
    case JsonKind::Array: return "an array";
    case JsonKind::Object: return "an object";
  }
  return "a value";
}

JsonValue JsonValue::of(JsonKind kind, LocatedText text) {
  JsonValue value;
  value.kind = kind;
  value.text = std::move(text);
  return value;
}

const JsonValue* JsonValue::find(std::string_view key) const {
  for (const JsonMember& member : members)
    if (member.key.text == key) return &member.value;
  return nullptr;
}

}  // namespace keyway::inline v1
