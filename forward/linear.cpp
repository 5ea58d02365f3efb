// Rules of operators that are linear, in their arguments together or in each.
#include <keyway/autograd/formulas/add_term.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/forward/jvp_rules.h>
#include <keyway/ops/all.h>

#include <string_view>

namespace keyway::inline v1::forward {
namespace {

const TensorBase* tensor_at(const Stack& values, std::size_t i) {
  if (!values[i].is_tensor()) return nullptr;
  const TensorBase& tensor = values[i].tensor_ref();
  return tensor.defined() ? &tensor : nullptr;
}
// Null if the argument has none.
const TensorBase* tangent_of(const JvpCall& call, std::string_view argument) {
  return tensor_at(call.tangents, call.position_of(argument));
}
IValue& argument_of(const JvpCall& call, Stack& arguments, std::string_view name) {
  return arguments[call.position_of(name)];
}

// The call's own results, and those of the same call with other arguments.
Results with_tangents(const JvpCall& call, Stack tangents) {
  Results results = primal_only(call);
  call_boxed(call.op, tangents);
  results.tangents = std::move(tangents);
  return results;
}

// Adds what a call with other arguments gives.
void add_call(const JvpCall& call, Stack arguments, Tensor& sum) {
  call_boxed(call.op, arguments);
  autograd::add_term(sum, Tensor(arguments[0].to_tensor()));
}

// self + alpha * other, or with a minus. With one tangent alone it is that, in the shape of the result.
Results sum_of_two(const JvpCall& call, bool subtracts) {
  const TensorBase *self = tangent_of(call, "self"), *other = tangent_of(call, "other");
  if (self != nullptr && other != nullptr) return linear(call);
  Results results = primal_only(call);
  const TensorBase result = results.primals[0].to_tensor();
  Tensor only(self != nullptr ? *self : *other);
  if (self == nullptr) {
    only = only.mul(call.primals[call.position_of("alpha")].to_scalar());
    if (subtracts) only = only.neg();
  }
  results.tangents = {only.expand(result.sizes())};
  return results;
}

}  // namespace

Stack linear_arguments(const JvpCall& call) {
  // Those that it is linear in; the others are as they are.
  Stack arguments = call.primals;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!call.is_derived(i)) continue;
    Stack primal{arguments[i]}, tangent{call.tangents[i]};
    for_each_pair(primal, tangent, [](TensorBase& p, TensorBase& t) { p = t.defined() ? t : zeros_for(p); });
    arguments[i] = primal[0];
  }
  return arguments;
}

Results linear(const JvpCall& call) { return with_tangents(call, linear_arguments(call)); }

Tensor sum_over_tangents(const JvpCall& call) {
  Tensor sum;
  for (std::size_t i = 0; i < call.primals.size(); ++i) {
    const TensorBase* tangent = tensor_at(call.tangents, i);
    if (tangent == nullptr) continue;
    Stack arguments = call.primals;
    arguments[i] = *tangent;
    if (call.op.schema().is_mutable()) arguments[0] = Tensor(arguments[0].to_tensor()).clone();
    add_call(call, std::move(arguments), sum);
  }
  return sum;
}

Results multilinear(const JvpCall& call) {
  Results results = primal_only(call);
  results.tangents = {sum_over_tangents(call)};
  return results;
}

Results sum(const JvpCall& call) { return sum_of_two(call, false); }
Results difference(const JvpCall& call) { return sum_of_two(call, true); }

// The offset counts from the beginning of the memory.
Results as_strided(const JvpCall& call) {
  Stack tangents = call.primals;
  const std::size_t self = call.position_of("self");
  const TensorBase primal = call.primals[self].to_tensor(), tangent = call.tangents[self].to_tensor();
  tangents[self] = tangent;
  IValue& offset = argument_of(call, tangents, "storage_offset");
  if (!offset.is_none()) offset = offset.to_int() - primal.storage_offset() + tangent.storage_offset();
  return with_tangents(call, std::move(tangents));
}

// beta * self + alpha * the product of the other two with derivatives.
Results added_product(const JvpCall& call) {
  Results results = primal_only(call);
  const std::size_t self = call.position_of("self"), beta = call.position_of("beta");
  const TensorBase* added = tensor_at(call.tangents, self);
  const Scalar scale = added != nullptr ? call.primals[beta].to_scalar() : Scalar(0);
  Tensor sum;
  for (std::size_t i = 0; i < call.primals.size(); ++i) {
    const TensorBase* tangent = tensor_at(call.tangents, i);
    if (i == self || tangent == nullptr) continue;
    Stack arguments = call.primals;
    if (sum.defined()) {
      arguments[self] = sum;
    } else if (added != nullptr) {
      arguments[self] = *added;
    }
    arguments[i] = *tangent;
    arguments[beta] = sum.defined() ? Scalar(1) : scale;
    call_boxed(call.op, arguments);
    sum = Tensor(arguments[0].to_tensor());
  }
  if (!sum.defined()) sum = Tensor(*added).mul(scale).expand(results.primals[0].to_tensor().sizes());
  results.tangents = {sum};
  return results;
}

// Of both tensors, and what is added.
Results convolution(const JvpCall& call) {
  Results results = primal_only(call);
  const TensorBase* bias = tangent_of(call, "bias");
  Tensor sum;
  for (const std::string_view factor : {"input", "weight"}) {
    const TensorBase* tangent = tangent_of(call, factor);
    if (tangent == nullptr) continue;
    Stack arguments = call.primals;
    argument_of(call, arguments, factor) = *tangent;
    argument_of(call, arguments, "bias") = bias != nullptr && !sum.defined() ? IValue(*bias) : IValue(TensorBase());
    add_call(call, std::move(arguments), sum);
  }
  const TensorBase result = results.primals[0].to_tensor();
  if (!sum.defined()) {
    // One for each channel, in front of the dimensions of space.
    Tensor added(*bias);
    for (std::int64_t i = 2; i < result.dim(); ++i) added = added.unsqueeze(-1);
    sum = added.expand(result.sizes());
  }
  results.tangents = {sum};
  return results;
}

}  // namespace keyway::inline v1::forward
