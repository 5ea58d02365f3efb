// libkeyway_cuda_graph.so: what libkeyway opens when a graph of CUDA tensors is first made ready
// (graph/graph_backend.cpp).
#include <keyway/backends/cuda/graph/compiler.h>
#include <keyway/dispatch/plugin/plugin.h>

#include <memory>

namespace keyway::inline v1::cuda {

KEYWAY_PLUGIN(cuda_graph, plugin) {
  plugin.keep(graph::register_graph_backend(kCUDA, std::make_shared<GraphCompiler>()));
}

}  // namespace keyway::inline v1::cuda
