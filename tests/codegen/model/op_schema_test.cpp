// The JSON Schema that editors use says the same as the generator's tables.
#include <keyway/codegen/expr/vocabulary.h>
#include <keyway/codegen/json/json_reader.h>
#include <keyway/codegen/model/entry_shape.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/core/schema/transform_rules.h>
#include <keyway/tests/codegen/test_files.h>

using namespace keyway;

namespace {

const JsonValue& at(const JsonValue& value, std::initializer_list<const char*> keys) {
  const JsonValue* found = &value;
  for (const char* key : keys) {
    found = found->find(key);
    INFO(key);
    REQUIRE(found);
  }
  return *found;
}

std::vector<std::string> strings(const JsonValue& array) {
  std::vector<std::string> out;
  for (const JsonValue& item : array.items) out.push_back(item.text.text);
  return out;
}

}  // namespace

TEST_CASE("op.schema.json has the generator's keys, tags, dtype presets and rules") {
  Diagnostics diagnostics;
  const auto schema = read_json(read_file(KEYWAY_OP_SCHEMA), Report(diagnostics, "op.schema.json"));
  CHECK(diagnostics.str().empty());
  REQUIRE(schema.has_value());
  const JsonValue& properties = at(*schema, {"$defs", "op", "properties"});
  std::vector<std::string> keys;
  for (const JsonMember& member : properties.members) keys.push_back(member.key.text);
  CHECK(keys == entry_keys());
  CHECK(strings(at(at(*schema, {"$defs", "tag", "oneOf"}).items[0], {"enum"})) == known_tags());
  CHECK(strings(at(at(properties, {"dtypes", "oneOf"}).items[0], {"enum"})) == dtype_presets());
  const auto names = [](const auto& rules) {
    std::vector<std::string> out;
    for (const TransformRule& rule : rules) out.emplace_back(rule.name);
    return out;
  };
  CHECK(strings(at(at(properties, {"vmap", "oneOf"}).items[0], {"enum"})) == names(kVmapRules));
  CHECK(strings(at(at(properties, {"jvp", "oneOf"}).items[0], {"enum"})) == names(kJvpRules));
}
