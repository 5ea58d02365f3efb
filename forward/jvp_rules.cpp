#include <keyway/dispatch/call/call.h>
#include <keyway/forward/jvp_rules.h>
#include <keyway/ops/all.h>
#include <keyway/ops/convolution_entries.h>
#include <keyway/ops/linalg_entries.h>
#include <keyway/ops/pointwise_entries.h>
#include <keyway/ops/view_entries.h>

#include <algorithm>

namespace keyway::inline v1::forward {
namespace {

// Of single operators.
struct Own {
  const OperatorEntry* op;
  Rule rule;
};
constexpr Own kOwn[] = {
    {&ops::add_Tensor, sum_of_two}, {&ops::sub_Tensor, sum_of_two}, {&ops::addmm, added_product},
    {&ops::as_strided, as_strided}, {&ops::baddbmm, added_product}, {&ops::convolution, convolution},
};

}  // namespace

Rule rule_of(const OperatorEntry& op) {
  const OpInfo& info = op.info();
  if (info.derived == 0) return info.name.starts_with("keyway::") ? constant : general;
  const Own* own = std::ranges::find(kOwn, &op, &Own::op);
  if (own != std::end(kOwn)) return own->rule;
  switch (info.forward) {
    case ForwardRule::General: break;
    case ForwardRule::Pointwise: return pointwise;
    case ForwardRule::Linear: return linear;
    case ForwardRule::Multilinear: return multilinear;
  }
  return general;
}

namespace {

using Visit = std::function<void(TensorBase&, TensorBase&)>;

void for_each_pair(std::vector<TensorBase>& list, std::vector<TensorBase>& others, const Visit& visit) {
  others.resize(list.size());
  for (std::size_t k = 0; k < list.size(); ++k)
    if (list[k].defined()) visit(list[k], others[k]);
}

}  // namespace

void for_each_pair(Stack& primals, Stack& tangents, const Visit& visit) {
  for (std::size_t i = 0; i < primals.size(); ++i) {
    IValue &primal = primals[i], &tangent = tangents[i];
    if (primal.is_tensor() && primal.tensor_ref().defined()) {
      if (!tangent.is_tensor()) tangent = TensorBase();
      visit(primal.tensor_ref(), tangent.tensor_ref());
    } else if (primal.is(ValueTag::TensorList)) {
      std::vector<TensorBase> list = primal.to_tensor_list(), others;
      if (tangent.is(ValueTag::TensorList)) others = tangent.to_tensor_list();
      for_each_pair(list, others, visit);
      primal = IValue(std::move(list));
      tangent = IValue(std::move(others));
    } else if (primal.is(ValueTag::TensorListList)) {
      std::vector<std::vector<TensorBase>> lists = primal.to_tensor_lists(), others;
      if (tangent.is(ValueTag::TensorListList)) others = tangent.to_tensor_lists();
      others.resize(lists.size());
      for (std::size_t k = 0; k < lists.size(); ++k) for_each_pair(lists[k], others[k], visit);
      primal = IValue(std::move(lists));
      tangent = IValue(std::move(others));
    }
  }
}

Tensor zeros_for(const TensorBase& tensor) {
  return keyway::zeros({}, TensorOptions().dtype(tensor.dtype()).device(tensor.device())).expand(tensor.sizes());
}

bool has_history(const Call& call) {
  bool any = false;
  Stack primals = call.primals, tangents = call.tangents;
  for_each_pair(primals, tangents, [&](const TensorBase& primal, const TensorBase& tangent) {
    any = any || requires_grad(primal) || (tangent.defined() && requires_grad(tangent));
  });
  return any;
}

Results constant(const Call& call) {
  Results results{call.primals, {}};
  call_boxed(call.op, results.primals);
  return results;
}

}  // namespace keyway::inline v1::forward
