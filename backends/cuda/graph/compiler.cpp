#include <keyway/backends/cuda/graph/compiler.h>
#include <keyway/backends/cuda/graph/conditions.h>
#include <keyway/backends/cuda/graph/replayed_graph.h>

namespace keyway::inline v1::cuda {

std::unique_ptr<graph::CompiledGraph> GraphCompiler::compile(const graph::Graph& graph) {
  return std::make_unique<ReplayedGraph>(graph, checked_device(graph));
}

}  // namespace keyway::inline v1::cuda
