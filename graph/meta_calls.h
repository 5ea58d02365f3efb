// Calls without data, which tell what operators give.
#pragma once

#include <keyway/graph/graph.h>

#include <map>
#include <optional>

namespace keyway::inline v1::graph {

// Makes a call whose tensors are on Meta. Its argument for the device of results becomes Meta if it names a device, or
// if there are no tensors that say where the call runs. Returns the device that it named.
std::optional<Device> call_on_meta(const OperatorEntry& op, Stack& stack, bool has_tensors);

// A tensor of that geometry without data, over `storage`, which has room for it.
TensorBase meta_tensor(const Storage& storage, const TensorInfo& info);

// Tensors without data for the values of one call, which share memory as these do.
class MetaArguments {
 public:
  // Refers to the graph.
  MetaArguments(const Graph& graph, const ArgumentList& arguments, const Stack& values);

  const TensorBase& of(ValueId id);
  // The argument that is this tensor; kNoValue if none is.
  ValueId value_of(const TensorBase& tensor) const;
  // The first value of the memory in which a tensor lies; kNoValue if it is in none of theirs.
  ValueId memory_of(const TensorBase& tensor) const;
  // Throws keyway::Error(Value) if a call has given one another geometry or memory in place.
  void check_unchanged() const;
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

// Fills in what each value is: runs the calls on Meta, for inputs of the graph's dtypes and sizes that share no memory.
// Throws keyway::Error for what an operator refuses, and for results whose sizes depend on elements.
KEYWAY_API void infer_values(Graph& graph);

}  // namespace keyway::inline v1::graph
