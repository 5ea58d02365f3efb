// Whole graphs on the accelerator: pointwise calls that follow one another become one command, which goes over the
// elements once and keeps what passes from one call to the next in a block of the chip. Other calls are made by their
// kernels.
#pragma once

#include <keyway/graph/graph_backend.h>

namespace accelerator {

class Compiler final : public keyway::graph::GraphBackend {
 public:
  // Declines a graph that has no such calls.
  std::unique_ptr<keyway::graph::CompiledGraph> compile(const keyway::graph::Graph& graph) override;
};

}  // namespace accelerator
