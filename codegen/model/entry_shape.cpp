#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/entry_shape.h>

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace keyway::inline v1 {
namespace {

enum class Need : bool { Optional, Required };

struct Key {
  std::string_view name;
  JsonKind kind;
  Need need = Need::Optional;
  JsonKind other = kind;  // a second kind that it may be
};

// In the order in which they stand.
constexpr Key kEntryKeys[] = {
    {"for", JsonKind::Object},
    {"func", JsonKind::String, Need::Required},
    {"pointwise", JsonKind::String},
    {"reduction", JsonKind::String},
    {"view", JsonKind::String},
    {"composite", JsonKind::String},
    {"kernels", JsonKind::Array},
    {"rule", JsonKind::String},
    {"namespace", JsonKind::String},
    {"dtypes", JsonKind::Object, Need::Optional, JsonKind::String},
    {"variants", JsonKind::Array},
    {"out", JsonKind::String},
    {"aliases", JsonKind::Array},
    {"requires", JsonKind::Array},
    {"values", JsonKind::Array},
    {"derivatives", JsonKind::Object},
    {"autocast", JsonKind::String},
    {"vmap", JsonKind::String},
    {"jvp", JsonKind::String},
    {"counterpart", JsonKind::String},
    {"domain", JsonKind::Array},
    {"samples", JsonKind::Array},
    {"tags", JsonKind::Array},
    {"doc", JsonKind::String, Need::Required},
    {"example", JsonKind::String, Need::Required},
};
constexpr Key kFamilyKeys[] = {
    {"$schema", JsonKind::String}, {"doc", JsonKind::String, Need::Required}, {"macros", JsonKind::Object},
    {"helpers", JsonKind::Array},  {"ops", JsonKind::Array, Need::Required},
};
constexpr Key kHelperKeys[] = {
    {"func", JsonKind::String, Need::Required},
    {"doc", JsonKind::String, Need::Required},
};
constexpr Key kIndexContractKeys[] = {
    {"index", JsonKind::String, Need::Required},
};

// Keys that later versions will give a meaning.
constexpr std::string_view kReserved[] = {"inverse", "foreach"};

std::string unknown_key(std::string_view name, std::span<const Key> keys) {
  if (contains(kReserved, name)) return fmt::format("the key {} is reserved for a later version", in_quotes(name));
  return fmt::format("unknown key {}{}", in_quotes(name), did_you_mean(name, keys, &Key::name));
}

// The elements of an object or array: strings, but for contracts about indices. Those of macros and of the
// words of templates may be anything.
void check_elements(const JsonValue& value, std::string_view name, const Report& report) {
  if (name == "for" || name == "macros") return;
  const auto check = [&](const JsonValue& element, std::string_view what) {
    const bool objects = name == "ops" || name == "helpers";
    if (element.kind == JsonKind::String) return;
    if (element.kind == JsonKind::Object && (objects || name == "requires")) return;
    report.error(element.place(), "{} of {} is {}, not {}", what, in_quotes(name), element.kind,
                 objects ? JsonKind::Object : JsonKind::String);
  };
  for (const JsonValue& item : value.items) check(item, "an item");
  for (const JsonMember& member : value.members) check(member.value, "a value");
}

bool check_keys(const JsonValue& object, std::span<const Key> keys, const Report& report) {
  const std::size_t errors = report.count();
  const Key* last = nullptr;
  for (const JsonMember& member : object.members) {
    const auto key = std::ranges::find(keys, member.key.text, &Key::name);
    if (key == keys.end()) {
      report.error(member.key.place, unknown_key(member.key.text, keys));
      continue;
    }
    const JsonKind kind = member.value.kind;
    if (kind != key->kind && kind != key->other)
      report.error(member.value.place(), "{} is {}, not {}", in_quotes(key->name), kind, key->kind);
    else
      check_elements(member.value, key->name, report);
    if (last && &*key < last)
      report.error(member.key.place, "{} stands before {}", in_quotes(key->name), in_quotes(last->name));
    last = &*key;
  }
  for (const Key& key : keys)
    if (key.need == Need::Required && !object.find(key.name))
      report.error(object.place(), "the key {} is missing", in_quotes(key.name));
  return report.count() == errors;
}

}  // namespace

bool is_text_key(std::string_view key) {
  const auto is_text = [&](std::span<const Key> keys) {
    const auto found = std::ranges::find(keys, key, &Key::name);
    return found != keys.end() && found->kind == JsonKind::String;
  };
  return is_text(kEntryKeys) || is_text(kFamilyKeys);
}

std::vector<std::string> entry_keys() { return texts_of(kEntryKeys, &Key::name); }

bool check_entry_shape(const JsonValue& entry, const Report& report) { return check_keys(entry, kEntryKeys, report); }

bool check_helper_shape(const JsonValue& helper, const Report& report) {
  return check_keys(helper, kHelperKeys, report);
}

bool check_index_contract_shape(const JsonValue& contract, const Report& report) {
  return check_keys(contract, kIndexContractKeys, report);
}

bool check_family_shape(const JsonValue& family, const Report& report) {
  if (family.kind == JsonKind::Object) return check_keys(family, kFamilyKeys, report);
  report.error(family.place(), "a schema file holds an object, not {}", family.kind);
  return false;
}

}  // namespace keyway::inline v1
