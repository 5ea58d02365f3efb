#include <keyway/core/device/device.h>
#include <keyway/core/schema/evolution.h>
#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/dispatch/registry/registry.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace keyway::inline v1 {

namespace {

using Json = nlohmann::ordered_json;
constexpr int kSnapshotFormat = 1;

Json json_of(const std::string& name, const RegistrationSite& site) {
  return {{"name", name}, {"file", site.file}, {"line", site.line}};
}

Json json_of_kernels(const OperatorState& state) {
  std::vector<const Registration*> kernels;
  for (const Registration& r : state.registrations) kernels.push_back(&r);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Registration* a, const Registration* b) { return to_string(a->key) < to_string(b->key); });
  Json out = Json::array();
  for (const Registration* r : kernels) {
    Json kernel = {{"key", to_string(r->key)}};
    kernel.update(json_of(r->name, r->site));
    if ((r->kernel.flags & kFallthrough) != 0) kernel["fallthrough"] = true;
    out.push_back(std::move(kernel));
  }
  return out;
}

Json json_of(const OperatorEntry& op, const OperatorState& state) {
  const OpInfo& info = op.info();
  return {{"name", op.full_name()},
          {"schema", std::string(info.schema)},
          {"tags", std::string(info.tags)},
          {"file", info.file},
          {"line", info.line},
          {"kernels", json_of_kernels(state)}};
}

Json json_of(const Fallbacks& fallbacks) {
  Json out = Json::array();
  for (std::size_t key = 0; key < fallbacks.size(); ++key) {
    if (!fallbacks[key]) continue;
    Json one = {{"key", to_string(static_cast<DispatchKey>(key))}};
    one.update(json_of(fallbacks[key]->name, fallbacks[key]->site));
    out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end(), [](const Json& a, const Json& b) { return a["key"] < b["key"]; });
  return out;
}

Json json_of_backends() {
  std::set<std::string> names;
  for (int i = 0; i < kNumDeviceTypes; ++i) names.emplace(to_string(static_cast<DeviceType>(i)));
  names.erase("unknown");
  return names;
}

// ---- Comparison ----

[[noreturn]] void fail_snapshot(const std::string& why) {
  KEYWAY_FAIL(Parse, "this is no snapshot of a registry: {}", why);
}

Json parse(std::string_view text) {
  try {
    Json snapshot = Json::parse(text);
    if (!snapshot.is_object() || snapshot.value("format", 0) != kSnapshotFormat) {
      fail_snapshot("it has no format " + std::to_string(kSnapshotFormat));
    }
    return snapshot;
  } catch (const nlohmann::json::exception& error) {
    fail_snapshot(error.what());
  }
}

std::map<std::string, Json> by_name(const Json& list) {
  std::map<std::string, Json> out;
  for (const Json& item : list) out.emplace(item.at("name").get<std::string>(), item);
  return out;
}

// "CPU add_cpu", what a kernel is without its place.
std::string text_of(const Json& kernel) {
  std::string text = kernel.at("key").get<std::string>();
  const std::string name = kernel.at("name").get<std::string>();
  if (!name.empty()) text += " " + name;
  if (kernel.contains("fallthrough")) text += " (fallthrough)";
  return text;
}

std::vector<std::string> compare_lists(const Json& before, const Json& after) {
  std::multiset<std::string> old, now;
  for (const Json& item : before) old.insert(text_of(item));
  for (const Json& item : after) now.insert(text_of(item));
  std::vector<std::string> gone, come, lines;
  std::set_difference(old.begin(), old.end(), now.begin(), now.end(), std::back_inserter(gone));
  std::set_difference(now.begin(), now.end(), old.begin(), old.end(), std::back_inserter(come));
  for (const std::string& one : gone) lines.push_back("- " + one);
  for (const std::string& one : come) lines.push_back("+ " + one);
  return lines;
}

OperatorDifference compare_operator(const std::string& name, const Json& before, const Json& after) {
  OperatorDifference out{OperatorDifference::Kind::KernelsChanged, name, {}, {}, {}};
  const std::string old = before.at("schema").get<std::string>(), now = after.at("schema").get<std::string>();
  if (old != now) {
    out.kind = OperatorDifference::Kind::SchemaChanged;
    out.lines = {"- " + old, "+ " + now};
    const OwnedSchema first(old), second(now);
    const SchemaCompatibility verdict = compare_schemas(*first, *second);
    out.backward = verdict.backward;
    out.forward = verdict.forward;
  }
  for (std::string& line : compare_lists(before.at("kernels"), after.at("kernels")))
    out.lines.push_back(std::move(line));
  return out;
}

}  // namespace

std::string registry_snapshot(std::string_view pattern) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  std::map<std::string, Json> operators;
  Json dangling = Json::array();
  for (std::size_t i = 0; i < kBuiltinOps.size; ++i) {
    OperatorEntry& op = *kBuiltinOps.begin[i];
    const auto touched = registry.operators.find(op.full_name());
    operators[op.full_name()] =
        json_of(op, touched == registry.operators.end() ? Registry::state_of_static(op) : touched->second.state);
  }
  for (const auto& [name, record] : registry.operators) {
    const OperatorState& state = record.state;
    if (state.entry != nullptr) {
      operators[name] = json_of(*state.entry, state);
    } else if (!state.registrations.empty() && name.find(pattern) != std::string::npos) {
      dangling.push_back({{"name", name}, {"kernels", json_of_kernels(state)}});
    }
  }
  Json out = {{"format", kSnapshotFormat}, {"backends", json_of_backends()}};
  Json& list = out["operators"] = Json::array();
  for (auto& [name, json] : operators) {
    if (name.find(pattern) != std::string::npos) list.push_back(std::move(json));
  }
  out["fallbacks"] = json_of(registry.fallbacks);
  out["dangling"] = std::move(dangling);
  return out.dump(1) + "\n";
}

bool SnapshotDifference::is_backward_compatible() const {
  return std::none_of(operators.begin(), operators.end(), [](const OperatorDifference& one) {
    return one.kind == OperatorDifference::Kind::Removed || !one.backward.empty();
  });
}

bool SnapshotDifference::is_forward_compatible() const {
  return std::none_of(operators.begin(), operators.end(), [](const OperatorDifference& one) {
    return one.kind == OperatorDifference::Kind::Added || !one.forward.empty();
  });
}

SnapshotDifference compare_snapshots(std::string_view before, std::string_view after) {
  using Kind = OperatorDifference::Kind;
  try {
    const Json first = parse(before), second = parse(after);
    const std::map<std::string, Json> old = by_name(first.at("operators")), now = by_name(second.at("operators"));
    SnapshotDifference out;
    for (const auto& [name, op] : old) {
      if (!now.contains(name)) {
        out.operators.push_back({Kind::Removed, name, {"- " + op.at("schema").get<std::string>()}, {}, {}});
      }
    }
    for (const auto& [name, op] : now) {
      if (!old.contains(name)) {
        out.operators.push_back({Kind::Added, name, {"+ " + op.at("schema").get<std::string>()}, {}, {}});
        continue;
      }
      OperatorDifference one = compare_operator(name, old.at(name), op);
      if (!one.lines.empty()) out.operators.push_back(std::move(one));
    }
    std::stable_sort(out.operators.begin(), out.operators.end(),
                     [](const OperatorDifference& a, const OperatorDifference& b) { return a.op < b.op; });
    out.fallbacks = compare_lists(first.at("fallbacks"), second.at("fallbacks"));
    return out;
  } catch (const nlohmann::json::exception& error) {
    fail_snapshot(error.what());
  }
}

}  // namespace keyway::inline v1
