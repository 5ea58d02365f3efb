// GraphCompiler: the graph backend of CUDA devices. Internal to backends/cuda/graph.
#pragma once

#include <keyway/graph/graph_backend.h>

#include <memory>

namespace keyway::inline v1::cuda {

class GraphCompiler final : public graph::GraphBackend {
 public:
  std::unique_ptr<graph::CompiledGraph> compile(const graph::Graph& graph) override;
};

}  // namespace keyway::inline v1::cuda
