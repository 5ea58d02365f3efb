#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/plugin/fallback_report.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace keyway::inline v1 {

namespace {

using Json = nlohmann::ordered_json;
constexpr int kReportFormat = 1;

struct Counts {
  std::uint64_t calls = 0, bytes_to_host = 0, bytes_to_device = 0;
};

constinit ForkSafeMutex uses_mutex(LockOrder::Notes);
// Never destroyed: a call may be under way while the process ends.
std::map<std::pair<const OperatorEntry*, DeviceType>, Counts>& uses() {
  static auto& all = *new std::map<std::pair<const OperatorEntry*, DeviceType>, Counts>;
  return all;
}

// A forked child that ends leaves the report to its parent.
pid_t reporting_process = 0;
void write_report_at_exit() {
  const char* const path = std::getenv("KEYWAY_FALLBACK_REPORT");
  if (path == nullptr || getpid() != reporting_process) return;
  std::ofstream file(path);
  file << cpu_fallback_report(cpu_fallback_uses()) << std::flush;
  if (!file) std::fprintf(stderr, "keyway: cannot write the report of fallbacks to %s\n", path);
}
bool is_reported() {
  if (std::getenv("KEYWAY_FALLBACK_REPORT") == nullptr) return false;
  reporting_process = getpid();
  return std::atexit(write_report_at_exit) == 0;
}

}  // namespace

void detail::report_cpu_fallbacks_at_exit() { [[maybe_unused]] static const bool reported = is_reported(); }

void detail::note_cpu_fallback(const OperatorEntry& op, DeviceType device, std::uint64_t bytes_to_host,
                               std::uint64_t bytes_to_device) {
  report_cpu_fallbacks_at_exit();
  const std::lock_guard lock(uses_mutex);
  Counts& counts = uses()[{&op, device}];
  ++counts.calls;
  counts.bytes_to_host += bytes_to_host;
  counts.bytes_to_device += bytes_to_device;
}

std::vector<CpuFallbackUse> cpu_fallback_uses() {
  std::vector<CpuFallbackUse> all;
  {
    const std::lock_guard lock(uses_mutex);
    for (const auto& [key, counts] : uses()) {
      all.push_back({key.first->short_name(), std::string(to_string(key.second)), counts.calls, counts.bytes_to_host,
                     counts.bytes_to_device});
    }
  }
  std::sort(all.begin(), all.end(), [](const CpuFallbackUse& a, const CpuFallbackUse& b) {
    return std::tuple(b.bytes(), b.calls, a.op, a.device) < std::tuple(a.bytes(), a.calls, b.op, b.device);
  });
  return all;
}

void reset_cpu_fallback_uses() {
  const std::lock_guard lock(uses_mutex);
  uses().clear();
}

std::string to_string(const std::vector<CpuFallbackUse>& uses) {
  std::string text =
      fmt::format("{:<40} {:<8} {:>9} {:>15} {:>15}\n", "operator", "device", "calls", "bytes to CPU", "bytes back");
  for (const CpuFallbackUse& use : uses) {
    text += fmt::format("{:<40} {:<8} {:>9} {:>15} {:>15}\n", use.op, use.device, use.calls, use.bytes_to_host,
                        use.bytes_to_device);
  }
  return text;
}

std::string cpu_fallback_report(const std::vector<CpuFallbackUse>& uses) {
  Json list = Json::array();
  for (const CpuFallbackUse& use : uses) {
    list.push_back({{"op", use.op},
                    {"device", use.device},
                    {"calls", use.calls},
                    {"bytes_to_host", use.bytes_to_host},
                    {"bytes_to_device", use.bytes_to_device}});
  }
  return Json({{"cpu_fallback_report", kReportFormat}, {"uses", std::move(list)}}).dump(1) + "\n";
}

std::vector<CpuFallbackUse> parse_cpu_fallback_report(std::string_view json) {
  try {
    const Json report = Json::parse(json);
    const int format = report.at("cpu_fallback_report").get<int>();
    KEYWAY_CHECK_AS(Parse, format == kReportFormat, "the report of fallbacks has format {}, but this version reads {}",
                    format, kReportFormat);
    std::vector<CpuFallbackUse> uses;
    for (const Json& use : report.at("uses")) {
      uses.push_back({use.at("op").get<std::string>(), use.at("device").get<std::string>(),
                      use.at("calls").get<std::uint64_t>(), use.at("bytes_to_host").get<std::uint64_t>(),
                      use.at("bytes_to_device").get<std::uint64_t>()});
    }
    return uses;
  } catch (const nlohmann::json::exception& error) {
    KEYWAY_FAIL(Parse, "no report of fallbacks: {}", std::string(error.what()));
  }
}

}  // namespace keyway::inline v1
