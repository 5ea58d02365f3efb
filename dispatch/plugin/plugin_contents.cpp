#include <keyway/core/base/error.h>
#include <keyway/core/schema/evolution.h>
#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/plugin/loaded_plugins.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/plugin/plugin_contents.h>

#include <algorithm>
#include <string_view>

namespace keyway::inline v1 {

namespace {

// Whether the text is one of those that stand in a list, with a space between them.
bool is_listed(std::string_view list, std::string_view text) {
  while (!list.empty()) {
    const std::string_view each = list.substr(0, list.find(' '));
    if (each == text) return true;
    list.remove_prefix(std::min(list.size(), each.size() + 1));
  }
  return false;
}

// Whether Library::kernel() for one of the operators that have this key brings a kernel of `op` along.
bool comes_along(const PluginContents& contents, const std::string& op, const std::string& key) {
  const auto serves = [&](const auto& named) {
    const auto& [name, keys] = named;
    if (!keys.contains(key)) return false;
    const auto known = Dispatcher::singleton().find_op(name);
    return known && is_listed(known->entry().info().served_too, op.substr(op.find("::") + 2));
  };
  return std::any_of(contents.kernels.begin(), contents.kernels.end(), serves);
}

void add_missing(std::string& text, const char* sign, const char* what, const std::set<std::string>& all,
                 const std::set<std::string>& in) {
  for (const std::string& one : all) {
    if (!in.contains(one)) text += std::string("\n  ") + sign + what + one;
  }
}

// Lines for what `all` has and `in` has not; of kernels, what is not explained.
template <typename IsExplained>
std::string missing(const char* sign, const PluginContents& all, const PluginContents& in, IsExplained is_explained) {
  std::string text;
  add_missing(text, sign, "operator ", all.operators, in.operators);
  for (const auto& [op, keys] : all.kernels) {
    const auto at = in.kernels.find(op);
    for (const std::string& key : keys) {
      if ((at != in.kernels.end() && at->second.contains(key)) || is_explained(op, key)) continue;
      text += std::string("\n  ") + sign + "kernel of " + op + " for " + key;
    }
  }
  add_missing(text, sign, "fallback for ", all.fallbacks, in.fallbacks);
  add_missing(text, sign, "device type ", all.device_types, in.device_types);
  return text;
}

// What is registered and not said.
std::string unsaid(const PluginManifest& manifest, const PluginContents& contents) {
  return missing("+ ", contents, manifest.registers, [&](const std::string& op, const std::string& key) {
    return comes_along(manifest.registers, op, key);
  });
}

// What is said and not registered. Of an operator that was there when the manifest was made, and is not here, no kernel
// comes along.
std::string unregistered(const PluginManifest& manifest, const PluginContents& contents) {
  return missing("- ", manifest.registers, contents, [&](const std::string& op, const std::string&) {
    return manifest.schemas.contains(op) && !Dispatcher::singleton().find_op(op);
  });
}

void fail_if_any(const std::string& lines) {
  KEYWAY_CHECK_AS(Registration, lines.empty(),
                  "it registers other things (+) than its manifest says (-); if that is right, write its manifest anew "
                  "with `keyway plugin describe`:{}",
                  lines);
}

// The device type whose backend a key is of; empty if it is of none, or of one that is always there.
std::string device_type_of(const std::string& name) {
  const std::optional<DispatchKey> key = parse_dispatch_key(name);
  if (!key || is_alias(*key) || backend_number_of(*key) == 0) return {};
  const auto type = static_cast<DeviceType>(backend_number_of(*key) - 1);
  return type == kCPU || type == kMeta ? std::string() : std::string(to_string(type));
}

// How an operator here differs from what a plug-in was built against; empty if it does not, or is not here.
std::string schema_problem(const std::string& op, const std::string& schema) {
  const auto known = Dispatcher::singleton().find_op(op);
  if (!known || known->entry().info().schema == schema) return {};
  std::string difference;
  try {
    difference = schema_difference(*OwnedSchema(schema), known->schema());
  } catch (const Error& error) {
    difference = std::string("its manifest has no schema of it: ") + error.what();
  }
  return difference.empty() ? difference : "\n  " + op + ": " + difference;
}

}  // namespace

PluginManifest manifest_of(const LoadedPlugin& plugin) {
  PluginManifest manifest;
  manifest.name = plugin.name();
  manifest.abi = kPluginAbi;
  manifest.registers = plugin.registers();
  const PluginContents& registers = manifest.registers;
  std::set<std::string> own;
  for (const std::string& schema : registers.operators) own.insert(schema.substr(0, schema.find('(')));
  std::set<std::string> keys = registers.fallbacks;
  for (const auto& [op, of_op] : registers.kernels) {
    keys.insert(of_op.begin(), of_op.end());
    if (own.contains(op)) continue;
    if (const auto known = Dispatcher::singleton().find_op(op)) {
      manifest.schemas[op] = known->entry().info().schema;
    } else {
      manifest.needs.operators.insert(op);
    }
  }
  for (const std::string& key : keys) {
    const std::string type = device_type_of(key);
    if (!type.empty() && !registers.device_types.contains(type)) manifest.needs.device_types.insert(type);
  }
  return manifest;
}

void add_contents(PluginContents& to, const BlockRequest& from) {
  for (const DefRequest& def : from.defs) to.operators.insert(def.schema);
  for (const ImplRequest& impl : from.impls) to.kernels[impl.op].insert(to_string(impl.key));
  for (const FallbackRequest& fallback : from.fallbacks) to.fallbacks.insert(to_string(fallback.key));
}

void check_nothing_else(const PluginManifest& manifest, const PluginContents& contents) {
  fail_if_any(unsaid(manifest, contents));
}

void check_as_said(const PluginManifest& manifest, const std::string& name, const PluginContents& contents) {
  KEYWAY_CHECK_AS(Registration, manifest.name == name, "it is called {}, and its manifest says {}", name,
                  manifest.name);
  fail_if_any(unregistered(manifest, contents) + unsaid(manifest, contents));
}

void check_surroundings(const PluginManifest& manifest) {
  std::string problems;
  for (const auto& [op, schema] : manifest.schemas) problems += schema_problem(op, schema);
  KEYWAY_CHECK_AS(Registration, problems.empty(),
                  "it was built against operators with other schemas (there) than they have here; rebuild it:{}",
                  problems);
  for (const std::string& name : manifest.needs.plugins) {
    KEYWAY_CHECK_AS(Registration, is_plugin_loaded(name), "it needs the plug-in {}, which is not loaded", name);
  }
}

}  // namespace keyway::inline v1
