#include <keyway/core/schema/rule_table.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/forward/jvp_rules.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::forward {

namespace {

constexpr RuleRow<JvpRule> kFunctions[] = {
    {"general", general},         {"primal", primal_only},      {"pointwise", pointwise},
    {"linear", linear},           {"multilinear", multilinear}, {"sum", sum},
    {"difference", difference},   {"as_strided", as_strided},   {"added_product", added_product},
    {"convolution", convolution},
};
static_assert(has_a_row_for_each_rule<kFunctions, kJvpRules>());

}  // namespace

JvpRule rule_of(const OperatorEntry& op) {
  const OpInfo& info = op.info();
  if (info.derived == 0) return info.name.starts_with("keyway::") ? primal_only : general;
  return kFunctions[info.jvp].function;
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

bool has_history(const JvpCall& call) {
  bool any = false;
  Stack primals = call.primals, tangents = call.tangents;
  for_each_pair(primals, tangents, [&](const TensorBase& primal, const TensorBase& tangent) {
    any = any || requires_grad(primal) || (tangent.defined() && requires_grad(tangent));
  });
  return any;
}

Results primal_only(const JvpCall& call) {
  Results results{call.primals, {}};
  call_boxed(call.op, results.primals);
  return results;
}

}  // namespace keyway::inline v1::forward
