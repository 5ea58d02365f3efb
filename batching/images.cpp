#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/dispatch/call/call.h>

#include <string_view>

namespace keyway::inline v1::batching {
namespace {

// The first two dimensions as one.
TensorBase merged(const TensorBase& value) { return Tensor(value).flatten(0, 1); }

TensorBase split(const TensorBase& result, const VmapLevel& level) {
  return Tensor(result).unflatten(0, {level.batch_size(), -1});
}

// Of an image with its channels: max_pool3d has three dimensions of space.
std::int64_t image_rank(std::string_view op) { return op.find("3d") != std::string_view::npos ? 4 : 3; }

}  // namespace

bool images(VmapCall& call) {
  const std::int64_t image = image_rank(call.op.info().name);
  bool all_images = true;
  bool all_lists = true;
  for_each_tensor(call.stack, [&](const TensorBase& tensor) {
    all_images = all_images && tensor.dim() == image;
    all_lists = all_lists && tensor.dim() == image + 1 && tensor.size(0) > 0;
  });
  if (!all_images && !all_lists) return false;
  update_tensors(call.stack, [&](TensorBase& tensor) {
    const TensorBase value = expand_to_batch(tensor, call.level);
    tensor = all_images ? value : merged(value);
  });
  call_boxed(call.op, call.stack);
  if (all_lists) update_tensors(call.stack, [&](TensorBase& result) { result = split(result, call.level); });
  return true;
}

}  // namespace keyway::inline v1::batching
