#include <keyway/backends/cuda/graph/input_memory.h>
#include <keyway/core/device/pending_calls.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/effects.h>

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace keyway::inline v1::cuda {

using graph::Graph;
using graph::TensorInfo;
using graph::ValueId;

namespace {

// Where a tensor begins in its memory, and ends, in bytes.
std::pair<std::int64_t, std::int64_t> extent(const TensorInfo& info) {
  const auto itemsize = static_cast<std::int64_t>(element_size(info.dtype));
  std::int64_t last = 0;
  for (std::size_t d = 0; d < info.sizes.size(); ++d) {
    if (info.sizes[d] == 0) return {info.offset * itemsize, info.offset * itemsize};
    last += (info.sizes[d] - 1) * info.strides[d];
  }
  return {info.offset * itemsize, (info.offset + last + 1) * itemsize};
}

// Whether all values in the memory of a value lie within that, and no other input lies there.
bool is_alone(const Graph& graph, ValueId id) {
  const auto [begin, end] = extent(graph.values[graph::index(id)].info);
  for (const graph::Value& value : graph.values) {
    if (value.memory != memory_of(graph, id)) continue;
    const auto [first, last] = extent(value.info);
    if (first < begin || last > end) return false;
  }
  return std::ranges::none_of(graph.inputs, [&](const graph::Input& input) {
    return input.value != id && memory_of(graph, input.value) == memory_of(graph, id);
  });
}

// A tensor that lies in its memory as the other one does.
Tensor laid_out_like(const Tensor& tensor) {
  const std::int64_t offset = tensor.storage_offset();
  const auto elements = static_cast<std::int64_t>(
      checked_nbytes(tensor.sizes(), tensor.strides(), offset, tensor.itemsize()) / tensor.itemsize());
  const TensorBase all = make_tensor({elements}, tensor.dtype(), tensor.device());
  return Tensor(make_view(all, tensor.sizes(), tensor.strides(), offset));
}

}  // namespace

InputMemory::InputMemory(const Graph& graph) : slots_(graph.inputs.size()), same_as_(graph.inputs.size()) {
  std::set<ValueId> used, written;  // memories
  for (const graph::Node& node : graph.nodes) {
    for_each_argument(node, [&](ValueId id) { used.insert(memory_of(graph, id)); });
    for_each_written(node, [&](ValueId id) { written.insert(memory_of(graph, id)); });
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const ValueId id = graph.inputs[i].value;
    same_as_[i] =
        static_cast<std::size_t>(std::ranges::find(graph.inputs, id, &graph::Input::value) - graph.inputs.begin());
    if (id == graph::kNoValue || same_as_[i] != i) continue;
    const TensorInfo& info = graph.values[graph::index(id)].info;
    Slot& slot = slots_[i];
    slot.is_used = used.contains(memory_of(graph, id)) && std::ranges::find(info.sizes, 0) == info.sizes.end();
    slot.is_written = written.contains(memory_of(graph, id));
    slot.is_copyable = is_non_overlapping_and_dense(info.sizes, info.strides) && is_alone(graph, id);
  }
}

void InputMemory::see(const std::vector<Tensor>& inputs) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.is_used || !inputs[i].defined()) continue;
    make_calls_pending_for(inputs[i]);
    const void* const address = inputs[i].data_ptr();
    if (slot.seen != nullptr && slot.seen != address) slot.moves = true;
    slot.seen = address;
  }
}

bool InputMemory::holds() const {
  return std::ranges::all_of(
      slots_, [](const Slot& slot) { return !slot.is_used || slot.stand_in.defined() || slot.seen == slot.captured; });
}

std::vector<Tensor> InputMemory::stand_ins(const std::vector<Tensor>& inputs) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.is_used) continue;
    slot.captured = slot.seen;
    if (slot.moves && slot.is_copyable && !slot.stand_in.defined()) slot.stand_in = laid_out_like(inputs[i]);
  }
  std::vector<Tensor> tensors = inputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (const Tensor& other = slots_[same_as_[i]].stand_in; other.defined()) tensors[i] = other;
  }
  return tensors;
}

std::vector<Tensor> InputMemory::all_stand_ins() const {
  std::vector<Tensor> all;
  for (const Slot& slot : slots_) {
    if (slot.stand_in.defined()) all.push_back(slot.stand_in);
  }
  return all;
}

void InputMemory::drop_stand_ins() {
  for (Slot& slot : slots_) slot.stand_in = Tensor();
}

void InputMemory::fill(const std::vector<Tensor>& inputs) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (Tensor stand_in = slots_[i].stand_in; stand_in.defined()) stand_in.copy_(inputs[i]);
  }
}

void InputMemory::write_back(const std::vector<Tensor>& inputs) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].stand_in.defined() || !slots_[i].is_written) continue;
    Tensor input = inputs[i];
    input.copy_(slots_[i].stand_in);
  }
}

std::optional<std::string> InputMemory::problem() const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.is_used && !slot.stand_in.defined() && slot.moves && !slot.is_copyable)
      return fmt::format(
          "input {} lies in other memory in each run, and cannot be copied: it shares memory with others, or does not "
          "fill its own",
          i);
  }
  return std::nullopt;
}

}  // namespace keyway::inline v1::cuda
