// A megabyte of data.
#include <keyway/dispatch/plugin/plugin.h>

#include <cstdint>

namespace {
const char bytes[1 << 20] = "not nothing";
}

KEYWAY_PLUGIN(large, plugin) {
  plugin.library("large").def("byte(Tensor self, int at) -> int", [](const keyway::TensorBase&, std::int64_t at) {
    return std::int64_t{bytes[static_cast<std::uint64_t>(at) % sizeof(bytes)]};
  });
}
