// Changes of a tensor's geometry or history in place: the tensor becomes the view that the operator of the same name
// gives.
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/tensor/tensor_impl.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/ops/autograd_entries.h>
#include <keyway/ops/inplace_view_entries.h>
#include <keyway/ops/view_entries.h>

#include <algorithm>
#include <memory>

namespace keyway::inline v1::batching {
namespace {

struct Pair {
  const OperatorEntry* changing;
  const OperatorEntry* viewing;
};
constexpr Pair kPairs[] = {
    {&ops::as_strided_, &ops::as_strided},     {&ops::detach_, &ops::detach},
    {&ops::squeeze_, &ops::squeeze},           {&ops::squeeze__dim, &ops::squeeze_dim},
    {&ops::squeeze__dims, &ops::squeeze_dims}, {&ops::t_, &ops::t},
    {&ops::transpose_, &ops::transpose_int},   {&ops::unsqueeze_, &ops::unsqueeze},
};

}  // namespace

bool change_view(const OperatorEntry& op, Stack& arguments) {
  const auto* pair = std::ranges::find(kPairs, &op, &Pair::changing);
  const bool is_paired = pair != std::end(kPairs);
  if (!is_paired && !op.has_tag("inplace_view")) return false;
  const TensorBase self = arguments[0].to_tensor();
  if (batched_value(self) == nullptr) return false;
  if (!is_paired) throw Refusal("this cannot change the tensor of an example in place");
  call_boxed(*pair->viewing, arguments);
  const TensorBase view = arguments[0].to_tensor();
  const BatchedValue& value = *batched_value(view);
  self.impl()->set_geometry(view.sizes(), view.strides(), view.storage_offset(), view.numel());
  self.impl()->set_extra(std::make_unique<BatchedValue>(value.value(), value.level()));
  arguments = {self};
  return true;
}

}  // namespace keyway::inline v1::batching
