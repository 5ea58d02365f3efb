#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/level_dims.h>
#include <keyway/batching/vmap_rules.h>

namespace keyway::inline v1::batching {
namespace {

std::int64_t depth_of(const VmapLevel* level) { return level == nullptr ? 0 : 1 + depth_of(level->outer()); }

// The level within `level` that the tensor is batched at; null if there is none.
const VmapLevel* inner_level(const Tensor& tensor, const VmapLevel& level) {
  const BatchedValue* batched = batched_value(tensor);
  if (batched == nullptr || batched->level() <= level.id()) return nullptr;
  const VmapLevel* inner = find_level(batched->level());
  KEYWAY_CHECK(inner != nullptr, "vmap: a tensor of a single example is used outside of the vmap that it belongs to");
  return inner;
}

}  // namespace

Tensor with_level_dims(const Tensor& tensor, const VmapLevel* level) {
  if (level == nullptr || !tensor.defined()) return tensor;
  if (const VmapLevel* inner = inner_level(tensor, *level)) {
    const OutsideLevelGuard outside(inner);
    const Tensor value = with_level_dims(Tensor(*value_at(tensor, *inner)), level);
    return Tensor(make_batched(value.movedim(depth_of(level), 0), *inner));
  }
  const OutsideLevelGuard outside(level);
  return with_level_dims(Tensor(expand_to_batch(tensor, *level)), level->outer());
}

Tensor without_level_dims(const Tensor& tensor, const VmapLevel* level) {
  if (level == nullptr || !tensor.defined()) return tensor;
  if (const VmapLevel* inner = inner_level(tensor, *level)) {
    const OutsideLevelGuard outside(inner);
    const Tensor value = Tensor(*value_at(tensor, *inner)).movedim(0, depth_of(level));
    return Tensor(make_batched(without_level_dims(value, level), *inner));
  }
  KEYWAY_CHECK_AS(NotImplemented, batched_value(tensor) == nullptr,
                  "vmap: a backward drew a random number for each example, but its gradient is of all of them");
  return Tensor(make_batched(without_level_dims(tensor, level->outer()), *level));
}

}  // namespace keyway::inline v1::batching
