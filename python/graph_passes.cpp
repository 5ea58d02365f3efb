#include <keyway/graph/passes/common_subexpressions.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/fold_batch_norm.h>
#include <keyway/graph/passes/freeze.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/graph/passes/order_weights.h>
#include <keyway/graph/passes/replace.h>
#include <keyway/python/graph_passes.h>

#include <nanobind/stl/pair.h>

namespace keyway::inline v1::python {

void add_graph_passes(nb::module_& module, GraphObjects objects) {
  const auto add = [&](const char* name, graph::Graph (*pass)(const graph::Graph&)) {
    module.def(
        name, [objects, pass](nb::handle graph) { return objects.object_of(pass(objects.graph_of(graph))); },
        nb::arg("graph"));
  };
  add("functionalize", graph::functionalize);
  add("fold_batch_norm", graph::fold_batch_norm);
  add("order_weights", graph::order_weights);
  add("freeze", graph::freeze);
  add("eliminate_dead_code", graph::eliminate_dead_code);
  add("eliminate_common_subexpressions", graph::eliminate_common_subexpressions);
  module.def(
      "replace",
      [objects](nb::handle graph, nb::handle pattern, nb::handle replacement) {
        graph::Replaced replaced =
            graph::replace(objects.graph_of(graph), objects.graph_of(pattern), objects.graph_of(replacement));
        return std::pair(objects.object_of(std::move(replaced.graph)), replaced.count);
      },
      nb::arg("graph"), nb::arg("pattern"), nb::arg("replacement"), "The graph, and how many matches were replaced.");
}

}  // namespace keyway::inline v1::python
