// A library that begins and ends with functions of its own (-Wl,-init, -Wl,-fini), which no table of symbols has.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tensor.h>

#include <cstdint>

namespace {
std::int64_t begun = 0;
}

extern "C" {
__attribute__((visibility("hidden"))) void keyway_test_begin() { ++begun; }
__attribute__((visibility("hidden"))) void keyway_test_end() { --begun; }
}

KEYWAY_PLUGIN(begins, plugin) {
  plugin.library("begins").def("begun(Tensor self) -> int", [](const keyway::Tensor&) { return begun; });
}
