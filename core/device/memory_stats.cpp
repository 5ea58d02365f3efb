#include <keyway/core/device/memory_stats.h>

#include <fmt/format.h>

namespace keyway::inline v1 {

void MemoryStats::reset_peaks() {
  for (MemoryLevel* level : {&requested, &allocated, &active, &reserved}) level->peak = level->current;
}

std::string bytes_text(std::size_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string to_string(const MemoryStats& stats) {
  std::string text = fmt::format("{:<12}{:>14}{:>14}\n", "", "now", "peak");
  const auto line = [&](const char* name, const MemoryLevel& level) {
    text += fmt::format("{:<12}{:>14}{:>14}\n", name, bytes_text(level.current), bytes_text(level.peak));
  };
  line("requested", stats.requested);
  line("allocated", stats.allocated);
  line("active", stats.active);
  line("reserved", stats.reserved);
  return text +
         fmt::format("{} allocations, {} frees; {} segments of the device, {} given back; {} retries, {} refused\n",
                     stats.allocations, stats.frees, stats.segments, stats.segments_freed, stats.retries,
                     stats.out_of_memory);
}

}  // namespace keyway::inline v1
