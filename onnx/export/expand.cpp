#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/onnx/export/expand.h>
#include <keyway/onnx/export/operators/table.h>
#include <keyway/ops/creation.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::onnx::exporter {

using graph::index;
using graph::kNoValue;
using graph::Level;
using graph::Node;
using graph::TensorInfo;
using graph::ValueId;

namespace {

bool has_nodes(const Node& node) { return find_mapping(*node.op) != nullptr; }

std::string call_of(const Node& node) {
  return node.site.empty() ? std::string(node.op->short_name())
                           : fmt::format("{}, {}", node.op->short_name(), node.site);
}

// What a call makes below autograd, as a graph of its tensors; the tensors have no elements.
graph::Graph captured(const graph::Graph& graph, const Node& node, std::vector<ValueId>& arguments) {
  const ArgumentList schema = node.op->schema().arguments();
  const NoGradGuard no_grad;
  const ExcludeDispatchKeyGuard unrecorded(kAutogradKeys);
  std::map<ValueId, TensorBase> tensors;
  graph::for_each_argument(node, [&](ValueId id) {
    if (tensors.contains(id)) return;
    const TensorInfo& info = graph::info_of(graph, id);
    const auto options = TensorOptions(info.dtype).device(DeviceType::Meta);
    tensors.emplace(id, empty_strided(info.sizes, info.strides, options));
    arguments.push_back(id);
  });
  graph::Capture capture(Level::Executed);
  for (const ValueId id : arguments) capture.add_argument(Tensor(tensors.at(id)));
  Stack stack = graph::with_tensors(schema, node.arguments, [&](ValueId id) { return tensors.at(id); });
  if (const int at = node.op->info().boxed.device; at >= 0 && tensors.empty())
    stack[static_cast<std::size_t>(at)] = IValue(Device(DeviceType::Meta));
  call_boxed(*node.op, stack);
  std::vector<Tensor> outputs;
  graph::for_each_item<TensorBase>(node.op->schema().returns(), stack,
                                   [&](const TensorBase& tensor) { outputs.emplace_back(tensor); });
  stack.clear();
  return graph::eliminate_dead_code(graph::functionalize(capture.finish(outputs)));
}

// Makes a graph of another one, call by call.
class Expander {
 public:
  explicit Expander(const graph::Graph& graph) : graph_(graph), result_(graph), now_(graph.values.size(), kNoValue) {
    result_.nodes.clear();
    result_.values.clear();
    for (graph::Input& input : result_.inputs) input.value = copied(graph_, now_, input.value);
  }

  graph::Graph result() {
    for (const Node& node : graph_.nodes) {
      if (has_nodes(node))
        add(graph_, node, now_, node.site);
      else
        splice(node);
    }
    for (ValueId& output : result_.outputs) output = output == kNoValue ? output : now_[index(output)];
    return std::move(result_);
  }

 private:
  // The number of a value of `from` in the result.
  ValueId copied(const graph::Graph& from, std::vector<ValueId>& now, ValueId id) {
    if (id == kNoValue) return id;
    ValueId& known = now[index(id)];
    if (known == kNoValue) {
      TensorInfo info = graph::info_of(from, id);
      info.device = Device(DeviceType::CPU);
      known = graph::add_value(result_, std::move(info));
    }
    return known;
  }

  void add(const graph::Graph& from, const Node& node, std::vector<ValueId>& now, const std::string& site) {
    const auto renamed = [&](ValueId id) { return copied(from, now, id); };
    Stack arguments = graph::with_values(node.op->schema().arguments(), node.arguments, renamed);
    for (IValue& argument : arguments) {
      if (argument.is(ValueTag::Device)) argument = IValue(Device(DeviceType::CPU));
    }
    Stack results = graph::with_values(node.op->schema().returns(), node.results, renamed);
    result_.nodes.push_back({node.op, std::move(arguments), std::move(results), site});
  }

  void splice(const Node& node) {
    std::vector<ValueId> arguments;
    graph::Graph inner;
    try {
      inner = captured(graph_, node, arguments);
    } catch (const Error& error) {
      KEYWAY_FAIL(NotImplemented, "ONNX export: {} has no nodes of ONNX, and what it calls cannot be followed: {}",
                  call_of(node), error.message());
    }
    for (const Node& called : inner.nodes) {
      if (has_nodes(called)) continue;
      KEYWAY_CHECK_AS(NotImplemented, called.op != node.op, "ONNX export: {} has no nodes of ONNX", call_of(node));
      KEYWAY_FAIL(NotImplemented, "ONNX export: {} calls {}, which has no nodes of ONNX", call_of(node),
                  called.op->short_name());
    }
    std::vector<ValueId> now(inner.values.size(), kNoValue);
    for (std::size_t i = 0; i < inner.inputs.size(); ++i) {
      graph::Input input = inner.inputs[i];
      if (!input.is_state) {
        now[index(input.value)] = now_[index(arguments[i])];
        continue;
      }
      input.value = copied(inner, now, input.value);
      input.name = fmt::format("constant.{}", constants_++);
      result_.inputs.push_back(std::move(input));
    }
    for (const Node& called : inner.nodes) add(inner, called, now, node.site);
    std::size_t at = 0;
    graph::for_each_value(node.op->schema().returns(), node.results, [&](ValueId id) {
      const ValueId output = inner.outputs.at(at++);
      if (id != kNoValue && output != kNoValue) now_[index(id)] = now[index(output)];
    });
  }

  const graph::Graph& graph_;
  graph::Graph result_;
  std::vector<ValueId> now_;
  int constants_ = 0;
};

// Batch normalization by fixed statistics has the schema of one that changes them.
bool is_fixed_batch_norm(const Node& node) {
  if (node.op->full_name() != "keyway::_native_batch_norm_legit") return false;
  const auto training = node.op->schema().arguments().find("training");
  return training && !node.arguments[*training].to_bool();
}

bool writes(const Node& node) { return node.op->schema().is_mutable() && !is_fixed_batch_norm(node); }

void replace_fixed_batch_norms(graph::Graph& graph) {
  for (Node& node : graph.nodes) {
    if (!is_fixed_batch_norm(node)) continue;
    const std::size_t training = *node.op->schema().arguments().find("training");
    node.arguments.erase(node.arguments.begin() + static_cast<std::ptrdiff_t>(training));
    node.op = &Dispatcher::singleton().op("_native_batch_norm_legit_no_training").entry();
  }
}

// Of a graph whose views are known to lie in the memory of inputs.
void refuse_writes(const graph::Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!writes(node)) continue;
    graph::for_each_written(node, [&](ValueId id) {
      for (const graph::Input& input : graph.inputs) {
        KEYWAY_CHECK(graph::memory_of(graph, input.value) != graph::memory_of(graph, id),
                     "ONNX export: {} writes to its {} '{}', which a model cannot: call eval() of a module in training",
                     call_of(node), input.is_state ? "state" : "argument", input.name);
      }
    });
  }
}

}  // namespace

bool is_exportable(const graph::Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const Node& node) { return has_nodes(node) && !writes(node); });
}

graph::Graph expanded(graph::Graph graph) {
  replace_fixed_batch_norms(graph);
  if (std::ranges::any_of(graph.nodes, writes)) {
    graph.level = Level::Executed;  // what the calls do without gradients
    refuse_writes(graph);
    graph = graph::functionalize(graph);
  }
  graph.level = Level::Executed;
  graph = graph::eliminate_dead_code(graph);
  graph::Graph result = Expander(graph).result();
  result.level = Level::Program;
  return result;
}

}  // namespace keyway::inline v1::onnx::exporter
