// Changes of a tensor's geometry or history in place: the tensor becomes the view that the operator's counterpart
// gives.
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/schema/transform_rules.h>
#include <keyway/core/tensor/tensor_impl.h>
#include <keyway/dispatch/call/call.h>

#include <memory>

namespace keyway::inline v1::batching {

bool change_view(const OperatorEntry& op, Stack& arguments) {
  constexpr std::uint8_t kInplaceView = vmap_rule("inplace_view");
  const bool becomes_view = op.info().vmap == kInplaceView;
  if (!becomes_view && !op.has_tag("inplace_view")) return false;
  const TensorBase self = arguments[0].to_tensor();
  if (batched_value(self) == nullptr) return false;
  if (!becomes_view) throw CannotBatch("this cannot change the tensor of an example in place");
  call_boxed(*op.info().counterpart, arguments);
  const TensorBase view = arguments[0].to_tensor();
  const BatchedValue& value = *batched_value(view);
  self.impl()->set_geometry(view.sizes(), view.strides(), view.storage_offset(), view.numel());
  self.impl()->set_extra(std::make_unique<BatchedValue>(value.value(), value.level()));
  arguments = {self};
  return true;
}

}  // namespace keyway::inline v1::batching
