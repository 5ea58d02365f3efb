// Indexing: the batch is one more dimension, with an index of its own.
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/ops/creation.h>

#include <algorithm>
#include <optional>

namespace keyway::inline v1::batching {
namespace {

// Where the dimensions of the indices stand in the result: in front, or in the place of the indexed ones.
bool puts_indices_in_front(const std::vector<TensorBase>& indices) {
  const auto is_given = [](const TensorBase& index) { return index.defined(); };
  const auto first = std::ranges::find_if(indices, is_given);
  const auto end = std::find_if_not(first, indices.end(), is_given);
  return first == indices.begin() || std::find_if(end, indices.end(), is_given) != indices.end();
}

std::int64_t greatest_rank(const std::vector<TensorBase>& indices) {
  std::int64_t rank = 0;
  for (const TensorBase& index : indices)
    if (index.defined()) rank = std::max(rank, index.dim());
  return rank;
}

// The indices of all examples' tensors: in front, that of the example.
std::vector<TensorBase> with_example(const std::vector<TensorBase>& indices, const VmapLevel& level) {
  const std::int64_t rank = greatest_rank(indices);
  std::optional<Device> device;
  std::vector<TensorBase> all{TensorBase()};
  for (const TensorBase& index : indices) {
    if (index.defined()) device = index.device();
    const TensorBase* value = value_at(index, level);
    all.push_back(value != nullptr ? with_rank(*value, rank) : index);
  }
  all[0] = with_rank(arange(level.batch_size(), TensorOptions(kLong).device(device.value_or(DeviceType::CPU))), rank);
  return all;
}

}  // namespace

bool index(VmapCall& call) {
  const std::vector<TensorBase>& indices = call["indices"].to_tensor_list();
  if (!puts_indices_in_front(indices)) return false;
  call["indices"] = with_example(indices, call.level);
  call["self"] = expand_to_batch(call.tensor("self"), call.level);
  return call_op(call);
}

bool index_put(VmapCall& call) {
  const std::vector<TensorBase>& indices = call["indices"].to_tensor_list();
  if (!puts_indices_in_front(indices)) return false;
  const TensorBase self = call.tensor("self");
  const auto given = std::ranges::count_if(indices, [](const TensorBase& index) { return index.defined(); });
  const std::int64_t rank = greatest_rank(indices) + self.dim() - given;
  const TensorBase values = call.tensor("values");
  if (values.dim() > rank) return false;
  if (const TensorBase* value = value_at(values, call.level)) call["values"] = with_rank(*value, rank);
  call["indices"] = with_example(indices, call.level);
  call["self"] = expand_to_batch(self, call.level);
  return call_op(call);
}

// With one index for all examples.
bool along_dim(VmapCall& call) {
  const TensorBase self = call.tensor("self");
  const std::int64_t dim = call["dim"].to_int();
  if (value_at(call.tensor("index"), call.level) != nullptr || dim < -self.dim() || dim >= self.dim()) return false;
  call["self"] = expand_to_batch(self, call.level);
  call["dim"] = dim < 0 ? dim : dim + 1;
  if (call.op.schema().arguments().find("source")) {
    const TensorBase source = call.tensor("source");
    if (source.dim() != self.dim()) return false;
    call["source"] = expand_to_batch(source, call.level);
  }
  return call_op(call);
}

}  // namespace keyway::inline v1::batching
