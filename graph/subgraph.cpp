#include <keyway/core/schema/schema.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/run.h>
#include <keyway/graph/subgraph.h>
#include <keyway/ops/all.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

// Lets each input have memory of its own, and its views lie there: inputs are read alone, and which of them share
// memory is another matter in each run.
void separate_inputs(Graph& graph) {
  std::vector<ValueId> memories(graph.values.size());
  for (std::size_t id = 0; id < memories.size(); ++id) memories[id] = graph.values[id].memory;
  std::vector<bool> is_done(graph.values.size());
  for (const Input& input : graph.inputs) {
    memories[index(input.value)] = input.value;
    is_done[index(input.value)] = true;
  }
  for (const Node& node : graph.nodes) {
    const ArgumentList arguments = node.op->schema().arguments();
    for_each_result(node, [&](ValueId id) {
      if (is_done[index(id)]) return;
      is_done[index(id)] = true;
      ValueId base = kNoValue;  // what it is a view of: an argument that the schema says so of, if there is one
      for (const bool is_declared : {true, false}) {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          for_each_value_of(arguments[i], node.arguments[i], [&](ValueId argument) {
            const bool is_near = memory_of(graph, argument) == memory_of(graph, id);
            if (base == kNoValue && is_near && (!is_declared || arguments[i].is_alias())) base = argument;
          });
        }
      }
      if (base != kNoValue) memories[index(id)] = memories[index(base)];
    });
  }
  for (std::size_t id = 0; id < memories.size(); ++id) graph.values[id].memory = memories[id];
}

std::string site_of(const Node& node) { return node.site.empty() ? "" : " at " + node.site; }

void check_is_function(const Graph& graph) {
  std::vector<bool> is_given(graph.values.size());
  for (const Input& input : graph.inputs) {
    KEYWAY_CHECK(!input.is_state, "a graph within a call has no state: what it uses is among its arguments");
    is_given[index(memory_of(graph, input.value))] = true;
  }
  KEYWAY_CHECK(graph.grads.empty(), "a graph within a call gives no leaf another gradient");
  for (const Node& node : graph.nodes) {
    for_each_written(node, [&](ValueId id) {
      KEYWAY_CHECK(!is_given[index(memory_of(graph, id))],
                   "{}{} writes in place to a tensor from outside: write to a clone() of it", node.op->short_name(),
                   site_of(node));
    });
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId id = graph.outputs[i];
    KEYWAY_CHECK(id != kNoValue, "result {} is no tensor", i);
    const std::size_t memory = index(memory_of(graph, id));
    KEYWAY_CHECK(!is_given[memory],
                 "result {} lies in the memory of a tensor from outside, or of another result: return a clone() of it",
                 i);
    is_given[memory] = true;
  }
}

}  // namespace

Subgraph::Subgraph(Graph graph) {
  register_control_flow();
  check_is_function(graph);
  if (graph.level == Level::Executed) {
    for (Value& value : graph.values) value.info.requires_grad = false;  // what is executed has no history
    separate_inputs(graph);
  }
  if (Plan::is_possible(graph))
    plan_ = std::make_unique<Plan>(std::move(graph));
  else
    calls_ = std::make_unique<Interpreter>(std::move(graph));
}

Subgraph::~Subgraph() = default;

const Graph& Subgraph::graph() const { return plan_ != nullptr ? plan_->graph() : calls_->graph(); }

void Subgraph::check_inputs(const std::vector<Tensor>& inputs) const {
  const Graph& its = graph();
  KEYWAY_CHECK(inputs.size() == its.inputs.size(), "the graph takes {} tensors, not {}", its.inputs.size(),
               inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& info = info_of(its, its.inputs[i].value);
    KEYWAY_CHECK(inputs[i].defined(), "tensor {} of the graph is undefined", i);
    KEYWAY_CHECK(info.dtype == inputs[i].dtype() && info.device == inputs[i].device() &&
                     IntArrayRef(info.sizes) == inputs[i].sizes(),
                 "tensor {} of the graph is {}, but was {} in the capture", i, to_string(TensorInfo(inputs[i])),
                 to_string(info));
  }
}

std::vector<Tensor> Subgraph::run(const std::vector<Tensor>& inputs) const {
  check_inputs(inputs);
  const Graph& its = graph();
  if (its.level == Level::Program) return calls_->run_inputs(inputs);
  std::vector<Tensor> plain;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor laid = laid_out(inputs[i], info_of(its, its.inputs[i].value));
    plain.push_back(laid.requires_grad() ? laid.detach() : laid);
  }
  return plan_ != nullptr ? plan_->run_inputs(plain) : calls_->run_inputs(plain);
}

const Subgraph* subgraph_of(const IValue& value) {
  return value.is(ValueTag::Object) ? dynamic_cast<const Subgraph*>(value.to_object().holder().get()) : nullptr;
}

Tensor laid_out(const Tensor& tensor, const TensorInfo& info) {
  if (info.is_of(tensor)) return tensor;
  const std::size_t size = element_size(info.dtype);
  const auto count = static_cast<std::int64_t>(checked_nbytes(info.sizes, info.strides, info.offset, size) / size);
  const Tensor row = keyway::empty({count}, TensorOptions(info.device).dtype(info.dtype));
  Tensor copy = row.as_strided(info.sizes, info.strides, info.offset);
  copy.copy_(tensor.detach());
  return copy;
}

}  // namespace keyway::inline v1::graph
