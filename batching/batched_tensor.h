// A batched tensor: what an example's tensor is within vmap. It has the sizes and strides of one example, and stands
// for those of all, which lie in its value: a tensor with one dimension more in front.
#pragma once

#include <keyway/batching/vmap_level.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1::batching {

// The value may be batched itself, at an outer level. The tensor shares the value's storage: its own memory is the
// first example's, and its version that of all.
class BatchedValue final : public TensorExtra {
 public:
  BatchedValue(TensorBase value, std::uint64_t level) : value_(std::move(value)), level_(level) {}
  const TensorBase& value() const { return value_; }
  std::uint64_t level() const { return level_; }

 private:
  TensorBase value_;
  std::uint64_t level_;
};

// Null if the tensor, which may be undefined, is not batched.
KEYWAY_API const BatchedValue* batched_value(const TensorBase& tensor);

// Requires: the value's first dimension is that of the level's examples.
KEYWAY_API TensorBase make_batched(TensorBase value, const VmapLevel& level);

// The value of a tensor that is batched at this very level; null of others.
inline const TensorBase* value_at(const TensorBase& tensor, const VmapLevel& level) {
  const BatchedValue* batched = batched_value(tensor);
  return batched != nullptr && batched->level() == level.id() ? &batched->value() : nullptr;
}

}  // namespace keyway::inline v1::batching
