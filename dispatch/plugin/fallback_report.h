// What went through cpu_fallback, by the bytes that it moved: the operators that a backend gains most by writing next.
//
// With KEYWAY_FALLBACK_REPORT=FILE in the environment the process writes it down when it ends, and `keyway plugin
// report FILE` prints it.
#pragma once

#include <keyway/core/device/device.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

class OperatorEntry;

struct CpuFallbackUse {
  std::string op;      // "add.Tensor"
  std::string device;  // "npu"
  std::uint64_t calls = 0;
  std::uint64_t bytes_to_host = 0;
  std::uint64_t bytes_to_device = 0;

  std::uint64_t bytes() const { return bytes_to_host + bytes_to_device; }
};

// Since the process began, or the last reset; most bytes first. From any thread.
KEYWAY_API std::vector<CpuFallbackUse> cpu_fallback_uses();
KEYWAY_API void reset_cpu_fallback_uses();

// A table for people.
KEYWAY_API std::string to_string(const std::vector<CpuFallbackUse>& uses);
// JSON, and back. Throws keyway::Error(Parse) for what is no such report.
KEYWAY_API std::string cpu_fallback_report(const std::vector<CpuFallbackUse>& uses);
KEYWAY_API std::vector<CpuFallbackUse> parse_cpu_fallback_report(std::string_view json);

namespace detail {
// The report that the environment asks for is written, though nothing may go through the fallback.
void report_cpu_fallbacks_at_exit();
// Counts one call.
void note_cpu_fallback(const OperatorEntry& op, DeviceType device, std::uint64_t bytes_to_host,
                       std::uint64_t bytes_to_device);
}  // namespace detail

}  // namespace keyway::inline v1
