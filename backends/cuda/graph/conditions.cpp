#include <keyway/backends/cuda/graph/conditions.h>
#include <keyway/dispatch/call/call_declined.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/subgraph.h>

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace keyway::inline v1::cuda {

using graph::Graph;
using graph::Node;
using graph::ValueId;

namespace {

// Whether calls on CUDA devices end at a kernel that somebody has registered in the place of the backend's own.
bool has_other_kernel(const OperatorEntry& op) {
  const Table& table = op.table();
  const DispatchKeySet keys = DispatchKeySet(DeviceType::CUDA) | DispatchKeySet(Functionality::Dense);
  const KernelInfo& kernel = table.info[table.find(keys).kernel];
  return kernel.key == DispatchKey::CUDA && !std::string_view(kernel.name).starts_with("cuda::");
}

void check_operator(const Node& node) {
  if (!node.op->info().name.starts_with("keyway::") || has_other_kernel(*node.op))
    throw CallDeclined(
        fmt::format("{} has no kernel of Keyway's own, and may do something on the host that a replay "
                    "leaves out",
                    node.op->full_name()));
  if (std::ranges::any_of(node.arguments, [](const IValue& value) { return graph::subgraph_of(value) != nullptr; }))
    throw CallDeclined(fmt::format("which graph {} runs is decided on the host", node.op->short_name()));
  if (graph::has_effect(*node.op) && !graph::draws_random(*node.op))
    throw CallDeclined(fmt::format("what {} does is done on the host", node.op->short_name()));
}

// How many pieces of memory there are that outputs lie in and no input does: a run gives new ones.
std::size_t new_memories(const Graph& graph) {
  std::set<ValueId> memories;
  for (const ValueId id : graph.outputs) {
    if (id != graph::kNoValue) memories.insert(memory_of(graph, id));
  }
  for (const graph::Input& input : graph.inputs) memories.erase(memory_of(graph, input.value));
  return memories.size();
}

}  // namespace

bool is_view(const Graph& graph, const Node& node) {
  bool is_new = false, writes = false;
  for_each_written(node, [&](ValueId) { writes = true; });
  std::set<ValueId> given;
  for_each_argument(node, [&](ValueId id) { given.insert(memory_of(graph, id)); });
  for_each_result(node, [&](ValueId id) { is_new = is_new || !given.contains(memory_of(graph, id)); });
  return !is_new && !writes;
}

std::size_t launching_calls(const Graph& graph) {
  return static_cast<std::size_t>(
      std::ranges::count_if(graph.nodes, [&](const Node& node) { return !is_view(graph, node); }));
}

Device checked_device(const Graph& graph) {
  std::optional<Device> device;
  for (const Node& node : graph.nodes) {
    check_operator(node);
    const auto look = [&](ValueId id) {
      const Device here = graph.values[graph::index(id)].info.device;
      if (here.is_cpu())
        throw CallDeclined(
            fmt::format("{} has a tensor on the CPU, which a replay does not read or write", node.op->short_name()));
      if (device && *device != here)
        throw CallDeclined(fmt::format("its tensors lie on {} and {}: a replay is of one device", to_string(*device),
                                       to_string(here)));
      device = here;
    };
    for_each_argument(node, look);
    for_each_result(node, look);
  }
  const std::size_t calls = launching_calls(graph), results = new_memories(graph);
  if (!device || calls < 2 + results)
    throw CallDeclined(
        fmt::format("a replay takes a launch and {} copies of results, and the graph has {} calls", results, calls));
  return *device;
}

}  // namespace keyway::inline v1::cuda
