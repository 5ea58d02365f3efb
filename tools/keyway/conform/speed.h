// How fast a device is beside the CPU: the time of calls with tensors of a few sizes.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

// The call of an operator's example, with all tensors made larger.
struct SpeedRow {
  std::string op;
  std::int64_t elements = 0;  // of the greatest tensor
  std::size_t bytes = 0;      // that are read and written once at least: arguments and results
  double seconds = 0;         // of one call on the device, queued and done
  double cpu_seconds = 0;
};

struct SpeedReport {
  std::string device;
  double copy_bandwidth = 0;  // of a large copy within the device, read and written, in bytes per second
  std::vector<SpeedRow> rows;
};

// Of the operators that the device has kernels of, among those that fit the pattern; without a pattern, of all. A call
// that is refused with larger tensors, or that runs out of memory, has no row.
SpeedReport measure_speed(DeviceType device, const std::string& pattern);

// A table for people.
std::string text_of(const SpeedReport& report);

}  // namespace keyway::inline v1::tools
