#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/graph/boxed_values.h>
#include <keyway/graph/meta_calls.h>

#include <algorithm>

namespace keyway::inline v1::graph {

std::optional<Device> call_on_meta(const OperatorEntry& op, Stack& stack, bool has_tensors) {
  std::optional<Device> named;
  if (const int at = op.info().boxed.device; at >= 0) {
    IValue& argument = stack[static_cast<std::size_t>(at)];
    if (!argument.is_none()) named = argument.to_device();
    if (named || !has_tensors) argument = IValue(Device(DeviceType::Meta));
  }
  const ExcludeDispatchKeyGuard kernels_alone(kAutogradKeys | DispatchKeySet(Functionality::Autocast) |
                                              DispatchKeySet(Functionality::Tracer) |
                                              DispatchKeySet(Functionality::Functionalize));
  call_boxed(op, stack);
  return named;
}

TensorBase meta_tensor(const Storage& storage, const TensorInfo& info) { return tensor_over(storage, info); }

MetaArguments::MetaArguments(const Graph& graph, const ArgumentList& arguments, const Stack& values) : graph_(graph) {
  for_each_value(arguments, values, [&](ValueId id) {
    if (id == kNoValue) return;
    const TensorInfo& info = this->info(id);
    std::size_t& bytes = bytes_[memory(id)];
    bytes = std::max(bytes, checked_nbytes(info.sizes, info.strides, info.offset, element_size(info.dtype)));
    if (info.device.type() != DeviceType::CPU || !device_) device_ = info.device;
  });
}

const TensorBase& MetaArguments::of(ValueId id) {
  TensorBase& tensor = tensors_[id];
  if (tensor.defined()) return tensor;
  Storage& storage = storages_[memory(id)];
  if (!storage) storage = make_storage(bytes_[memory(id)], Device(DeviceType::Meta));
  tensor = meta_tensor(storage, info(id));
  return tensor;
}

ValueId MetaArguments::value_of(const TensorBase& tensor) const {
  const auto found = std::ranges::find_if(tensors_, [&](const auto& known) { return known.second.is_same(tensor); });
  return found == tensors_.end() ? kNoValue : found->first;
}

ValueId MetaArguments::memory_of(const TensorBase& tensor) const {
  const auto found =
      std::ranges::find_if(storages_, [&](const auto& known) { return known.second.is_alias_of(tensor.storage()); });
  return found == storages_.end() ? kNoValue : found->first;
}

void MetaArguments::check_unchanged() const {
  for (const auto& [id, tensor] : tensors_) {
    TensorInfo info = this->info(id);
    info.device = Device(DeviceType::Meta);
    KEYWAY_CHECK(info.is_of(tensor) && tensor.storage().is_alias_of(storages_.at(memory(id))),
                 "a call that gives a tensor other sizes in place, {} for {}, is not added to a graph",
                 TensorInfo(tensor), info);
  }
}

namespace {

class MetaRun {
 public:
  explicit MetaRun(Graph& graph) : graph_(graph), tensors_(graph.values.size()) {
    for (const Input& input : graph.inputs) {
      TensorInfo& info = graph.values[static_cast<std::size_t>(input.value)].info;
      const std::size_t bytes = checked_nbytes(info.sizes, info.strides, info.offset, element_size(info.dtype));
      const TensorInfo known = info;
      note(input.value, meta_tensor(make_storage(bytes, Device(DeviceType::Meta)), info), info.device);
      info = known;
    }
  }

  void call(const Node& node) {
    const ArgumentList arguments = node.op->schema().arguments();
    std::optional<Device> device;
    for_each_value(arguments, node.arguments, [&](ValueId id) {
      if (id == kNoValue) return;
      const Device its_device = graph_.values[static_cast<std::size_t>(id)].info.device;
      if (!device || its_device.type() != DeviceType::CPU) device = its_device;
    });
    Stack stack = with_tensors(arguments, node.arguments,
                               [&](ValueId id) -> TensorBase& { return tensors_[static_cast<std::size_t>(id)]; });
    const std::optional<Device> named = call_on_meta(*node.op, stack, device.has_value());
    if (named) device = named;
    take_results(node.op->schema().returns(), node.results, stack, [&](ValueId id, const TensorBase& tensor) {
      note(id, tensor, device.value_or(Device(DeviceType::CPU)));
    });
  }

 private:
  // What a value is when it is made; calls that write to it give it again.
  void note(ValueId id, const TensorBase& tensor, Device device) {
    TensorBase& known = tensors_[static_cast<std::size_t>(id)];
    const bool is_new = !known.defined();
    known = tensor;
    if (!is_new || !tensor.defined()) return;
    Value& value = graph_.values[static_cast<std::size_t>(id)];
    value.info = TensorInfo(tensor);
    value.info.device = device;
    value.memory = memories_.emplace(tensor.storage().impl(), id).first->second;
    if (value.memory == id) storages_.push_back(tensor.storage());
  }

  Graph& graph_;
  std::vector<TensorBase> tensors_;  // of the values
  std::map<const StorageImpl*, ValueId> memories_;
  std::vector<Storage> storages_;  // that have an address of their own
};

}  // namespace

void infer_values(Graph& graph) {
  MetaRun run(graph);
  for (const Node& node : graph.nodes) run.call(node);
}

}  // namespace keyway::inline v1::graph
