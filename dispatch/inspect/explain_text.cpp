// Explanations as text and as JSON.
#include <keyway/core/keys/key_names.h>
#include <keyway/dispatch/inspect/explain.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace keyway::inline v1 {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const RegisteredKernel& kernel) {
  std::string text = to_string(kernel.key);
  if (!kernel.name.empty()) text += " " + kernel.name;
  if (!kernel.site.file.empty()) text += " (" + kernel.site.str() + ")";
  return text;
}

}  // namespace

// By these nlohmann_json writes what an explanation is made of.
static void to_json(Json& json, DispatchKeySet keys) { json = key_names(keys); }
static void to_json(Json& json, const RegisteredKernel& kernel) {
  json = {
      {"key", to_string(kernel.key)}, {"name", kernel.name}, {"file", kernel.site.file}, {"line", kernel.site.line}};
}
static void to_json(Json& json, const ArgumentKeys& argument) {
  json = {{"name", argument.name}, {"keys", argument.keys}};
}
static void to_json(Json& json, const PassedKey& passed) {
  json = {{"key", to_string(passed.key)}, {"why", passed.why}};
}
static void to_json(Json& json, const OtherKernel& other) { json = {{"kernel", other.kernel}, {"why", other.why}}; }

std::string to_string(const SlotContent& content) {
  std::string text(to_string(content.rule));
  if (content.kernel) text += ": " + text_of(*content.kernel);
  return text;
}

std::string to_string(const Explanation& e) {
  std::string out = fmt::format("{}\n", e.op);
  for (const ArgumentKeys& argument : e.arguments) {
    out += fmt::format("  argument {:<17} {}\n", argument.name, to_string(argument.keys));
  }
  if (!e.included.empty()) out += fmt::format("  {:<26} {}\n", "the thread includes", to_string(e.included));
  if (!e.excluded.empty()) out += fmt::format("  {:<26} {}\n", "the thread excludes", to_string(e.excluded));
  out += fmt::format("  {:<26} {}\n", "asked for", to_string(e.asked));
  for (const PassedKey& passed : e.passed) {
    out += fmt::format("  {:<26} {}: {}\n", "passes", to_string(passed.key), passed.why);
  }
  out += fmt::format("  {:<26} {}\n", "ends at", to_string(e.key));
  out += fmt::format("  {:<26} {}\n", "rule", to_string(e.rule));
  out += fmt::format("  {:<26} {}\n", "calls", e.kernel ? text_of(*e.kernel) : "nothing: the call throws");
  for (const OtherKernel& other : e.others) {
    out += fmt::format("  {:<26} {}: {}\n", "not", text_of(other.kernel), other.why);
  }
  return out;
}

std::string to_json(const Explanation& e) {
  const Json out = {{"op", e.op},
                    {"arguments", e.arguments},
                    {"included", e.included},
                    {"excluded", e.excluded},
                    {"asked", e.asked},
                    {"effective", e.effective},
                    {"key", to_string(e.key)},
                    {"rule", std::string(to_string(e.rule))},
                    {"kernel", e.kernel ? Json(*e.kernel) : Json()},
                    {"passed", e.passed},
                    {"others", e.others}};
  return out.dump(2) + "\n";
}

}  // namespace keyway::inline v1
