// As plugin.cpp, by a formula of graphs.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/graph/formula.h>

KEYWAY_PLUGIN(graph_halves, plugin) {
  plugin.library("halves").def("half(int n) -> int", [](std::int64_t n) {
    return keyway::graph::evaluate("n // 2", {{"n", n}});
  });
}
