#include <keyway/batching/batched_kernel.h>
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap.h>
#include <keyway/batching/vmap_rules.h>

namespace keyway::inline v1 {

namespace {

std::int64_t checked(std::int64_t batch_size) {
  KEYWAY_CHECK(batch_size > 0, "vmap: a batch of {} examples; there must be at least one", batch_size);
  batching::register_kernels();
  return batch_size;
}

}  // namespace

Vmap::Vmap(std::int64_t batch_size, Randomness randomness) : level_(checked(batch_size), randomness) {}

Tensor Vmap::add_batch_dim(const Tensor& inputs, std::int64_t dim) const {
  return batching::add_batch_dim(inputs, dim, level_);
}
Tensor Vmap::remove_batch_dim(const Tensor& result, std::int64_t dim) const {
  return batching::remove_batch_dim(result, dim, level_);
}
bool Vmap::is_batched(const Tensor& tensor) const { return batching::value_at(tensor, level_) != nullptr; }

}  // namespace keyway::inline v1

namespace keyway::inline v1::batching {

Tensor add_batch_dim(const Tensor& inputs, std::int64_t dim, const VmapLevel& level) {
  KEYWAY_CHECK(inputs.defined(), "vmap: an undefined tensor has no examples");
  const std::int64_t size = inputs.size(dim);
  KEYWAY_CHECK(size == level.batch_size(), "vmap: dimension {} of a tensor of shape {} is not that of {} examples", dim,
               inputs.sizes(), level.batch_size());
  const OutsideLevelGuard outside(&level);
  return Tensor(make_batched(inputs.movedim(dim, 0), level));
}

Tensor remove_batch_dim(const Tensor& result, std::int64_t dim, const VmapLevel& level) {
  if (!result.defined()) return result;
  const std::int64_t rank = result.dim() + 1;
  KEYWAY_CHECK_AS(Index, dim >= -rank && dim < rank, "vmap: there is no dimension {} of results of {} dimensions", dim,
                  rank);
  const BatchedValue* batched = batched_value(result);
  KEYWAY_CHECK(batched == nullptr || batched->level() <= level.id(),
               "vmap: a tensor of a single example is used outside of the vmap that it belongs to");
  const OutsideLevelGuard outside(&level);
  return Tensor(expand_to_batch(result, level)).movedim(0, dim);
}

}  // namespace keyway::inline v1::batching
