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

Json json_of(DispatchKeySet keys) { return key_names(keys); }

Json json_of(const RegisteredKernel& kernel) {
  return {
      {"key", to_string(kernel.key)}, {"name", kernel.name}, {"file", kernel.site.file}, {"line", kernel.site.line}};
}

}  // namespace

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
  Json out = {{"op", e.op}};
  Json& arguments = out["arguments"] = Json::array();
  for (const ArgumentKeys& argument : e.arguments) {
    arguments.push_back({{"name", argument.name}, {"keys", json_of(argument.keys)}});
  }
  out["included"] = json_of(e.included);
  out["excluded"] = json_of(e.excluded);
  out["asked"] = json_of(e.asked);
  out["effective"] = json_of(e.effective);
  out["key"] = to_string(e.key);
  out["rule"] = std::string(to_string(e.rule));
  out["kernel"] = e.kernel ? json_of(*e.kernel) : Json();
  Json& passed = out["passed"] = Json::array();
  for (const PassedKey& one : e.passed) passed.push_back({{"key", to_string(one.key)}, {"why", one.why}});
  Json& others = out["others"] = Json::array();
  for (const OtherKernel& other : e.others) {
    others.push_back({{"kernel", json_of(other.kernel)}, {"why", other.why}});
  }
  return out.dump(2) + "\n";
}

}  // namespace keyway::inline v1
