#include <keyway/dispatch/plugin/plugin.h>

KEYWAY_PLUGIN(halves, plugin) {
  plugin.library("halves").def("half(int n) -> int", [](std::int64_t n) { return n / 2; });
}
