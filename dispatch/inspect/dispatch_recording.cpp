#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/keys/key_names.h>
#include <keyway/dispatch/inspect/dispatch_recording.h>

#include <fmt/format.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

namespace keyway::inline v1 {

namespace {

using Json = nlohmann::ordered_json;
constexpr int kRecordingFormat = 1;

std::string kernel_text(DispatchKey key, std::string_view name) {
  return name.empty() ? to_string(key) : fmt::format("{} {}", to_string(key), name);
}

// Of all recorders: a fork takes it.
constinit ForkSafeMutex recording_mutex(LockOrder::Notes);

[[noreturn]] void fail_recording(const std::string& why) {
  KEYWAY_FAIL(Parse, "this is no recording of dispatch: {}", why);
}

DispatchKey key_named(const std::string& name) {
  const auto key = parse_dispatch_key(name);
  if (!key) fail_recording("there is no dispatch key '" + name + "' (is its backend loaded?)");
  return *key;
}

DispatchDecision decision_of(const Json& json) {
  DispatchKeySet keys;
  for (const Json& name : json.at("keys")) keys = keys.add(key_named(name.get<std::string>()));
  return {json.at("op").get<std::string>(), keys, key_named(json.at("key").get<std::string>()),
          json.at("kernel").get<std::string>()};
}

// What a call with these keys reaches now, as a decision says it; nothing if the operator is not there.
std::optional<std::string> resolve_again(const DispatchDecision& decision) {
  const auto op = Dispatcher::singleton().find_op(decision.op);
  if (!op) return std::nullopt;
  const Table& table = op->entry().table();
  const std::size_t number = table.find_past_mark(decision.keys).kernel;
  return number == 0 ? std::string() : kernel_text(table.info[number].key, table.info[number].name);
}

std::string or_none(const std::string& kernel) { return kernel.empty() ? "no kernel" : kernel; }

}  // namespace

DispatchRecording::DispatchRecording(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("format", 0) != kRecordingFormat)
      fail_recording(fmt::format("it has no format {}", kRecordingFormat));
    for (const Json& one : json.at("decisions")) counts_[decision_of(one)] += one.at("count").get<std::uint64_t>();
  } catch (const nlohmann::json::exception& error) {
    fail_recording(error.what());
  }
}

std::string DispatchRecording::text() const {
  Json list = Json::array();
  for (const auto& [decision, count] : counts_) {
    list.push_back({{"op", decision.op},
                    {"keys", key_names(decision.keys)},
                    {"key", to_string(decision.key)},
                    {"kernel", decision.kernel},
                    {"count", count}});
  }
  return Json{{"format", kRecordingFormat}, {"decisions", std::move(list)}}.dump(1) + "\n";
}

std::vector<std::string> DispatchRecording::operators() const {
  std::set<std::string> names;
  for (const auto& [decision, count] : counts_) names.insert(decision.op);
  return {names.begin(), names.end()};
}

std::vector<std::string> DispatchRecording::differences() const {
  std::vector<std::string> lines;
  for (const auto& [decision, count] : counts_) {
    const std::optional<std::string> now = resolve_again(decision);
    if (!now) {
      lines.push_back(decision.op + ": there is no such operator");
    } else if (*now != decision.kernel) {
      lines.push_back(fmt::format("{} with {}: {}, where {} was", decision.op, to_string(decision.keys), or_none(*now),
                                  or_none(decision.kernel)));
    }
  }
  return lines;
}

void DispatchRecorder::call(const ObservedCall& call) {
  const bool missing = call.kernel.key == DispatchKey::Undefined;
  DispatchDecision decision{call.op.full_name(), call.keys, call.keys.highest_priority_key(),
                            missing ? std::string() : kernel_text(call.kernel.key, call.kernel.name)};
  {
    const std::lock_guard lock(recording_mutex);
    recording_.add(std::move(decision));
  }
  call.proceed();
}

DispatchRecording DispatchRecorder::recording() const {
  const std::lock_guard lock(recording_mutex);
  return recording_;
}

}  // namespace keyway::inline v1
