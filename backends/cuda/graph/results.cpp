#include <keyway/backends/cuda/graph/results.h>
#include <keyway/graph/effects.h>

#include <map>

namespace keyway::inline v1::cuda {

using graph::Graph;
using graph::kNoValue;
using graph::ValueId;

namespace {

// A tensor in this memory, with dtype and geometry of the other one.
Tensor placed(const Storage& storage, const Tensor& like) {
  auto impl = make_intrusive<TensorImpl>(storage, like.dtype(), like.sizes(), like.strides(), like.numel(), false);
  impl->set_geometry(like.sizes(), like.strides(), like.storage_offset(), like.numel());
  return Tensor(TensorBase(std::move(impl)));
}

// All bytes of a memory.
Tensor bytes_of(const Storage& storage) {
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  return Tensor(
      TensorBase(make_intrusive<TensorImpl>(storage, kByte, IntArrayRef({bytes}), IntArrayRef({1}), bytes, true)));
}

Storage copied(const Storage& storage) {
  Storage copy = make_storage(storage.nbytes(), storage.device());
  if (storage.nbytes() > 0) bytes_of(copy).copy_(bytes_of(storage));
  return copy;
}

}  // namespace

std::vector<Tensor> results_of(const Graph& graph, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& captured) {
  std::map<ValueId, Tensor> made;       // of each value
  std::map<ValueId, Storage> memories;  // by the first value that lies there
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    made.try_emplace(graph.inputs[i].value, inputs[i]);
    memories.try_emplace(memory_of(graph, graph.inputs[i].value), inputs[i].storage());
  }
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < captured.size(); ++i) {
    const ValueId id = graph.outputs[i];
    if (id == kNoValue) {
      results.emplace_back();
      continue;
    }
    Tensor& result = made[id];
    if (!result.defined()) {
      Storage& memory = memories[memory_of(graph, id)];
      if (!memory) memory = copied(captured[i].storage());
      result = placed(memory, captured[i]);
    }
    results.push_back(result);
  }
  return results;
}

}  // namespace keyway::inline v1::cuda
