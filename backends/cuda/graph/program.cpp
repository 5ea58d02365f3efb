#include <keyway/backends/cuda/graph/conditions.h>
#include <keyway/backends/cuda/graph/fused_kernels.h>
#include <keyway/backends/cuda/graph/kernel_text.h>
#include <keyway/backends/cuda/graph/program.h>
#include <keyway/backends/cuda/graph/run_time_compiler.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/graph/effects.h>

#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace keyway::inline v1::cuda {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::TensorInfo;
using graph::ValueId;

namespace {

std::vector<std::vector<ValueId>> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.values.size(), graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto use = [&](ValueId id) { last[graph::index(id)] = i; };
    for_each_argument(graph.nodes[i], use);
    for_each_result(graph.nodes[i], use);
  }
  for (const ValueId id : graph.outputs) {
    if (id != kNoValue) last[graph::index(id)] = graph.nodes.size();
  }
  std::vector<std::vector<ValueId>> ended(graph.nodes.size());
  for (std::size_t id = 0; id < last.size(); ++id) {
    if (last[id] < graph.nodes.size()) ended[last[id]].push_back(static_cast<ValueId>(id));
  }
  return ended;
}

bool is_fusion_wanted() {
  const char* const wanted = std::getenv("KEYWAY_CUDA_FUSION");
  return wanted == nullptr || std::string_view(wanted) != "0";
}

// Whether a tensor still has the dtype and the sizes of its value: a call may have given it others in place.
bool is_as_made(const Graph& graph, ValueId id, const TensorBase& tensor) {
  const TensorInfo& info = info_of(graph, id);
  return tensor.dtype() == info.dtype && tensor.sizes() == IntArrayRef(info.sizes);
}

}  // namespace

Program::Program(const Graph& graph) : graph_(graph), ended_(last_uses(graph_)) {
  for (PointwiseGroup& group : pointwise_groups(graph_)) groups_.push_back({std::move(group), nullptr});
}

void Program::fuse(Device device) {
  problem_.clear();
  if (!is_fusion_wanted()) return;
  for (Group& group : groups_) {
    try {
      group.kernel = fused_kernel(kernel_text(graph_, group.calls), device);
    } catch (const Error& error) {
      problem_ = std::string(error.message());
    }
  }
}

std::string Program::description() const {
  std::size_t kernels = 0, fused = 0;
  for (const Group& group : groups_) {
    if (group.kernel == nullptr) continue;
    ++kernels;
    fused += group.calls.calls.size();
  }
  std::string text = fmt::format("{} calls", launching_calls(graph_));
  if (kernels > 0) text += fmt::format(", {} of them in {} fused kernels", fused, kernels);
  if (!problem_.empty()) text += fmt::format("; {} fused kernels are missing: {}", groups_.size() - kernels, problem_);
  return text;
}

std::vector<Tensor> Program::run(const std::vector<Tensor>& inputs, By by) const {
  std::vector<Tensor> values(graph_.values.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const ValueId id = graph_.inputs[i].value; id != kNoValue) values[graph::index(id)] = inputs[i];
  }
  auto group = groups_.begin();
  for (std::size_t i = 0; i < graph_.nodes.size();) {
    std::size_t count = 1;
    if (group != groups_.end() && group->calls.first == i) {
      if (by == By::Kernels && group->kernel != nullptr && launch(*group, values)) count = group->calls.calls.size();
      ++group;
    }
    for (const std::size_t end = i + count; i < end; ++i) {
      if (count == 1) call(graph_.nodes[i], values);
      for (const ValueId id : ended_[i]) values[graph::index(id)] = Tensor();
    }
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph_.outputs) outputs.push_back(id == kNoValue ? Tensor() : values[graph::index(id)]);
  return outputs;
}

void Program::call(const Node& node, std::vector<Tensor>& values) const {
  const FunctionSchema& schema = node.op->schema();
  Stack stack = graph::with_tensors(schema.arguments(), node.arguments,
                                    [&](ValueId id) -> Tensor& { return values[graph::index(id)]; });
  call_boxed(*node.op, stack);
  graph::take_results(schema.returns(), node.results, stack,
                      [&](ValueId id, const TensorBase& tensor) { values[graph::index(id)] = Tensor(tensor); });
}

bool Program::launch(const Group& group, std::vector<Tensor>& values) const {
  std::vector<TensorBase> operands;
  for (const ValueId id : group.calls.read) {
    operands.push_back(values[graph::index(id)]);
    if (!is_as_made(graph_, id, operands.back())) return false;
  }
  std::vector<std::pair<ValueId, TensorBase>> results;
  for (const ValueId id : group.calls.written) {
    const TensorInfo& info = graph_.values[graph::index(id)].info;
    const Tensor& known = values[graph::index(id)];
    if (known.defined() && !is_as_made(graph_, id, known)) return false;
    results.emplace_back(id, known.defined() ? TensorBase(known)
                                             : make_tensor_strided(info.sizes, info.strides, info.dtype, info.device));
    operands.push_back(results.back().second);
  }
  FusedArguments arguments;
  if (!set_geometry(arguments, operands)) return false;
  std::size_t number = 0;
  for (const PointwiseCall& call : group.calls.calls) {
    for (const PointwiseCall::Member& member : call.members) {
      if (member.kind == PointwiseCall::Member::Kind::Number) arguments.numbers[number++] = member.number;
    }
  }
  group.kernel->launch(current_stream(operands.back().device()), (arguments.numel - 1) / kFusedThreads + 1,
                       kFusedThreads, &arguments);
  for (const auto& [id, tensor] : results) values[graph::index(id)] = Tensor(tensor);
  return true;
}

}  // namespace keyway::inline v1::cuda
