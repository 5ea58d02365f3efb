#include <keyway/codegen/json/json_value.h>

#include <utility>

namespace keyway::inline v1 {

std::string_view to_string(JsonKind kind) {
  constexpr std::string_view kNames[] = {"null", "true or false", "a number", "a string", "an array", "an object"};
  return kNames[static_cast<int>(kind)];
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

const JsonValue* JsonValue::find(std::string_view key, JsonKind wanted) const {
  const JsonValue* value = find(key);
  return value != nullptr && value->kind == wanted ? value : nullptr;
}

}  // namespace keyway::inline v1
