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
  const auto is_no_image = [&](const TensorBase& tensor) { return tensor.dim() != image; };
  const auto is_no_list = [&](const TensorBase& tensor) { return tensor.dim() != image + 1 || tensor.size(0) == 0; };
  const bool all_images = !any_tensor_in(call.stack, is_no_image), all_lists = !any_tensor_in(call.stack, is_no_list);
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
