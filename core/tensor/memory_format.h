// MemoryFormat: the order in which a strided tensor's dimensions lie in memory.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace keyway::inline v1 {

// Numbers are PyTorch's.
enum class MemoryFormat : std::int8_t {
  Contiguous = 0,      // the last dimension is densest
  Preserve = 1,        // as the input; only ever a request, never a tensor's own
  ChannelsLast = 2,    // four dimensions, in memory as N, H, W, C
  ChannelsLast3d = 3,  // five dimensions, in memory as N, D, H, W, C
};

// Python's names: "contiguous_format", "preserve_format", "channels_last", "channels_last_3d".
KEYWAY_API std::string_view to_string(MemoryFormat format);
// The format of such a name, or of an enumerator's name; nullopt for other text.
KEYWAY_API std::optional<MemoryFormat> try_parse_memory_format(std::string_view name);

}  // namespace keyway::inline v1
