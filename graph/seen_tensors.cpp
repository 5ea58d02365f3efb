#include <keyway/graph/seen_tensors.h>

#include <algorithm>

namespace keyway::inline v1::graph {

SeenTensors::Seen* SeenTensors::find(const TensorBase& tensor) {
  const auto found = tensors_.find(tensor.impl());
  return found == tensors_.end() ? nullptr : &found->second;
}

SeenTensors::Memory* SeenTensors::find_memory(const TensorBase& tensor) {
  const auto found = memories_.find(tensor.storage().impl());
  return found == memories_.end() ? nullptr : &found->second;
}

SeenTensors::Memory& SeenTensors::memory_of(const TensorBase& tensor, Origin origin) {
  const auto [found, is_new] = memories_.try_emplace(tensor.storage().impl());
  if (is_new) {
    const auto storage = intrusive_ptr<StorageImpl>::retain(tensor.storage().impl());
    found->second = {weak_intrusive_ptr<StorageImpl>(storage), origin, {}, true, tensor.storage().nbytes()};
  }
  return found->second;
}

void SeenTensors::add(const TensorBase& tensor, ValueId value, Origin origin) {
  std::vector<ValueId>& values = memory_of(tensor, origin).values;
  // Mostly one of the last: a program may have thousands of views of one memory.
  if (std::find(values.rbegin(), values.rend(), value) == values.rend()) values.push_back(value);
  tensors_.insert_or_assign(tensor.impl(),
                            Seen{weak_intrusive_ptr<TensorImpl>(tensor.impl_ptr()), value, tensor.storage().impl()});
}

std::vector<std::pair<TensorBase, ValueId>> SeenTensors::alive() const {
  std::vector<std::pair<TensorBase, ValueId>> alive;
  for (const auto& [impl, seen] : tensors_) {
    TensorBase tensor(seen.tensor.lock());
    if (tensor.defined()) alive.emplace_back(std::move(tensor), seen.value);
  }
  return alive;
}

void SeenTensors::move_memory(const TensorBase& tensor, Origin origin) {
  Seen& seen = tensors_.at(tensor.impl());
  if (seen.storage == tensor.storage().impl()) return;
  std::erase(memories_.at(seen.storage).values, seen.value);
  add(tensor, seen.value, origin);
}

}  // namespace keyway::inline v1::graph
