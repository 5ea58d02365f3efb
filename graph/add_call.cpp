#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/graph/meta_calls.h>

namespace keyway::inline v1::graph {
namespace {

// Numbers of the results of a call, whose values it adds.
class Results {
 public:
  Results(Graph& graph, const MetaArguments& arguments, Device device)
      : graph_(graph), arguments_(arguments), device_(device) {}

  IValue of(const IValue& result) {
    if (result.is_tensor()) return result.tensor_ref().defined() ? IValue(of(result.tensor_ref())) : IValue();
    if (!result.is(ValueTag::TensorList)) return result;
    std::vector<ValueId> ids;
    for (const TensorBase& tensor : result.to_tensor_list()) ids.push_back(of(tensor));
    return IValue(std::move(ids));
  }

 private:
  ValueId of(const TensorBase& tensor) {
    if (!tensor.defined()) return kNoValue;
    const ValueId argument = arguments_.value_of(tensor);
    if (argument != kNoValue) return argument;
    TensorInfo info(tensor);
    info.device = device_;
    ValueId memory = arguments_.memory_of(tensor);
    for (const auto& [other, id] : made_) {
      if (memory == kNoValue && other.is_alias_of(tensor)) memory = id;
    }
    const ValueId id = add_value(graph_, std::move(info), memory);
    made_.emplace_back(tensor, id);
    return id;
  }

  Graph& graph_;
  const MetaArguments& arguments_;
  Device device_;
  std::vector<std::pair<TensorBase, ValueId>> made_;
};

}  // namespace

ValueId add_value(Graph& graph, TensorInfo info, ValueId memory) {
  const auto id = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({std::move(info), memory == kNoValue ? id : memory});
  return id;
}

Stack add_call(Graph& graph, const OperatorEntry& op, Stack arguments, std::string site) {
  const ArgumentList schema = op.schema().arguments();
  MetaArguments tensors(graph, schema, arguments);
  Stack stack = with_tensors(schema, arguments, [&](ValueId id) { return tensors.of(id); });
  const std::optional<Device> named = call_on_meta(op, stack, tensors.device().has_value());
  tensors.check_unchanged();
  Results results(graph, tensors, named ? *named : tensors.device().value_or(Device(DeviceType::CPU)));
  for (IValue& result : stack) result = results.of(result);
  graph.nodes.push_back({&op, std::move(arguments), stack, std::move(site)});
  return stack;
}

ValueId add_call(Graph& graph, std::string_view name, Stack arguments, std::string site) {
  const OperatorEntry& op = Dispatcher::singleton().op(name).entry();
  const ArgumentList schema = op.schema().arguments();
  while (arguments.size() < schema.size()) arguments.push_back(default_argument(schema[arguments.size()]));
  const Stack results = add_call(graph, op, std::move(arguments), std::move(site));
  KEYWAY_CHECK(results.size() == 1 && results[0].is(ValueTag::Int), "add_call: {} has not one tensor as its result",
               op.short_name());
  return results[0].to_int();
}

ValueId add_view(Graph& graph, ValueId of, const TensorInfo& geometry, std::string site) {
  const Value& base = graph.values[static_cast<std::size_t>(of)];
  TensorInfo info = geometry;
  info.dtype = base.info.dtype;
  info.device = base.info.device;
  info.requires_grad = false;
  const ValueId id = add_value(graph, std::move(info), base.memory);
  graph.nodes.push_back({&Dispatcher::singleton().op("as_strided").entry(),
                         {IValue(of), IValue(geometry.sizes), IValue(geometry.strides), IValue(geometry.offset)},
                         {IValue(id)},
                         std::move(site)});
  return id;
}

}  // namespace keyway::inline v1::graph
