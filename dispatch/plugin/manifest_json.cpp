#include <keyway/core/base/error.h>
#include <keyway/dispatch/plugin/manifest.h>

#include <cstdint>
#include <nlohmann/json.hpp>

namespace keyway::inline v1 {

namespace {

using Json = nlohmann::ordered_json;
constexpr int kManifestFormat = 1;

// All of a manifest but its numbers, with the object of the JSON that has it.
template <typename Manifest, typename Visit>
void visit_fields(Manifest& manifest, const Visit& visit) {
  visit(nullptr, "name", manifest.name);
  visit(nullptr, "version", manifest.version);
  visit(nullptr, "keyway", manifest.keyway);
  visit("registers", "operators", manifest.registers.operators);
  visit("registers", "kernels", manifest.registers.kernels);
  visit("registers", "fallbacks", manifest.registers.fallbacks);
  visit("registers", "device_types", manifest.registers.device_types);
  visit(nullptr, "schemas", manifest.schemas);
  visit("needs", "plugins", manifest.needs.plugins);
  visit("needs", "operators", manifest.needs.operators);
  visit("needs", "device_types", manifest.needs.device_types);
}

Json json_of(const std::string& text) { return text; }

Json json_of(const std::set<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

template <typename Value>
Json json_of(const std::map<std::string, Value>& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = json_of(value);
  return object;
}

void read(const Json& from, std::string& to) { to = from.get_ref<const std::string&>(); }

void read(const Json& from, std::set<std::string>& to) {
  KEYWAY_CHECK_AS(Parse, from.is_array(), "a list of texts is expected where it has {}", from.type_name());
  for (const Json& text : from) to.insert(text.get_ref<const std::string&>());
}

template <typename Value>
void read(const Json& from, std::map<std::string, Value>& to) {
  KEYWAY_CHECK_AS(Parse, from.is_object(), "an object is expected where it has {}", from.type_name());
  for (const auto& [name, value] : from.items()) read(value, to[name]);
}

std::uint32_t abi_of(const Json& number) {
  const bool fits = number.is_number_unsigned() && number.get_ref<const std::uint64_t&>() <= UINT32_MAX;
  KEYWAY_CHECK_AS(Parse, fits, "its abi is no number of 32 bits");
  return static_cast<std::uint32_t>(number.get_ref<const std::uint64_t&>());
}

PluginManifest manifest_of_json(const Json& json) {
  KEYWAY_CHECK_AS(Parse, json.is_object() && json.contains("format") && json["format"] == kManifestFormat,
                  "it has no format {}", kManifestFormat);
  PluginManifest manifest;
  manifest.abi = abi_of(json.at("abi"));
  visit_fields(manifest, [&](const char* object, const char* name, auto& field) {
    read((object == nullptr ? json : json.at(object)).at(name), field);
  });
  return manifest;
}

}  // namespace

std::string to_json(const PluginManifest& manifest) {
  Json json = Json::object();
  json["format"] = kManifestFormat;
  json["abi"] = manifest.abi;
  visit_fields(manifest, [&](const char* object, const char* name, const auto& field) {
    (object == nullptr ? json : json[object])[name] = json_of(field);
  });
  try {
    return json.dump(1) + "\n";
  } catch (const nlohmann::json::exception& error) {
    KEYWAY_FAIL(Value, "the manifest of a plug-in has a text that is not UTF-8: {}", error.what());
  }
}

PluginManifest parse_plugin_manifest(std::string_view text) {
  try {
    return manifest_of_json(Json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    KEYWAY_FAIL(Parse, "this is no manifest of a plug-in: {}", error.what());
  } catch (const Error& error) {
    KEYWAY_FAIL(Parse, "this is no manifest of a plug-in: {}", error.what());
  }
}

}  // namespace keyway::inline v1
