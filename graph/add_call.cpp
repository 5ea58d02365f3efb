#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/graph/meta_calls.h>

#include <algorithm>
#include <map>

namespace keyway::inline v1::graph {
namespace {

// Tensors without data for the values of one call, which share memory as these do.
class MetaArguments {
 public:
  MetaArguments(const Graph& graph, const ArgumentList& arguments, const Stack& values) : graph_(graph) {
    for_each_value(arguments, values, [&](ValueId id) {
      if (id == kNoValue) return;
      const TensorInfo& info = this->info(id);
      std::size_t& bytes = bytes_[memory(id)];
      bytes = std::max(bytes, checked_nbytes(info.sizes, info.strides, info.offset, element_size(info.dtype)));
      if (info.device.type() != DeviceType::CPU || !device_) device_ = info.device;
    });
  }

  const TensorBase& of(ValueId id) {
    TensorBase& tensor = tensors_[id];
    if (tensor.defined()) return tensor;
    Storage& storage = storages_[memory(id)];
    if (!storage) storage = make_storage(bytes_[memory(id)], Device(DeviceType::Meta));
    tensor = meta_tensor(storage, info(id));
    return tensor;
  }
  // The argument that is this tensor; kNoValue if none is.
  ValueId value_of(const TensorBase& tensor) const {
    const auto found = std::ranges::find_if(tensors_, [&](const auto& known) { return known.second.is_same(tensor); });
    return found == tensors_.end() ? kNoValue : found->first;
  }
  // The first value of the memory in which a tensor lies; kNoValue if it is in none of theirs.
  ValueId memory_of(const TensorBase& tensor) const {
    const auto found =
        std::ranges::find_if(storages_, [&](const auto& known) { return known.second.is_alias_of(tensor.storage()); });
    return found == storages_.end() ? kNoValue : found->first;
  }
  // Throws keyway::Error(Value) if a call has given one another geometry or memory in place.
  void check_unchanged() const {
    for (const auto& [id, tensor] : tensors_) {
      TensorInfo info = this->info(id);
      info.device = Device(DeviceType::Meta);
      KEYWAY_CHECK(info.is_of(tensor) && tensor.storage().is_alias_of(storages_.at(memory(id))),
                   "a call that gives a tensor other sizes in place, {} for {}, is not added to a graph",
                   TensorInfo(tensor), info);
    }
  }
  // That of the arguments, if there are any: a tensor on the CPU may stand beside those of another device.
  std::optional<Device> device() const { return device_; }

 private:
  const TensorInfo& info(ValueId id) const { return graph_.values[static_cast<std::size_t>(id)].info; }
  ValueId memory(ValueId id) const { return graph_.values[static_cast<std::size_t>(id)].memory; }

  const Graph& graph_;
  std::map<ValueId, std::size_t> bytes_;
  std::map<ValueId, Storage> storages_;
  std::map<ValueId, TensorBase> tensors_;
  std::optional<Device> device_;
};

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
