#include <keyway/core/schema/rule_table.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/forward/jvp_rules.h>
#include <keyway/ops/all.h>

#include <optional>

namespace keyway::inline v1::forward {

std::size_t Call::position_of(std::string_view argument) const {
  const std::optional<std::size_t> position = op.schema().arguments().find(argument);
  KEYWAY_CHECK_AS(Internal, position, "the rule of forward mode reads an argument '{}', which the operator has not",
                  argument);
  return *position;
}

namespace {

constexpr RuleRow<Rule> kFunctions[] = {
    {"general", general},         {"primal", constant},         {"pointwise", pointwise},
    {"linear", linear},           {"multilinear", multilinear}, {"sum", sum},
    {"difference", difference},   {"as_strided", as_strided},   {"added_product", added_product},
    {"convolution", convolution},
};
static_assert(has_a_row_for_each_rule<kFunctions, kJvpRules>());

}  // namespace

Rule rule_of(const OperatorEntry& op) {
  const OpInfo& info = op.info();
  if (info.derived == 0) return info.name.starts_with("keyway::") ? constant : general;
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
