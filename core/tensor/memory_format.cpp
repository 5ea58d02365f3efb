#include <keyway/core/tensor/memory_format.h>

namespace keyway::inline v1 {
namespace {

struct NamedFormat {
  MemoryFormat format;
  std::string_view python, enumerator;
};
constexpr NamedFormat kFormats[] = {
    {MemoryFormat::Contiguous, "contiguous_format", "Contiguous"},
    {MemoryFormat::Preserve, "preserve_format", "Preserve"},
    {MemoryFormat::ChannelsLast, "channels_last", "ChannelsLast"},
    {MemoryFormat::ChannelsLast3d, "channels_last_3d", "ChannelsLast3d"},
};

}  // namespace

std::string_view to_string(MemoryFormat format) {
  for (const NamedFormat& entry : kFormats) {
    if (entry.format == format) return entry.python;
  }
  return "invalid";
}

std::optional<MemoryFormat> try_parse_memory_format(std::string_view name) {
  for (const NamedFormat& entry : kFormats) {
    if (name == entry.python || name == entry.enumerator) return entry.format;
  }
  return std::nullopt;
}

}  // namespace keyway::inline v1
