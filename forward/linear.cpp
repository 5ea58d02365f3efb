// Rules of operators that are linear, in their arguments together or in each.
#include <keyway/autograd/formulas/pointwise_formulas.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/forward/jvp_rules.h>
#include <keyway/ops/all.h>
#include <keyway/ops/pointwise_entries.h>

namespace keyway::inline v1::forward {
namespace {

const TensorBase* tensor_at(const Stack& values, std::size_t i) {
  if (!values[i].is_tensor()) return nullptr;
  const TensorBase& tensor = const_cast<IValue&>(values[i]).tensor_ref();
  return tensor.defined() ? &tensor : nullptr;
}

// The call's own results, and those of the same call with other arguments.
Results with_tangents(const Call& call, Stack tangents) {
  Results results = constant(call);
  call_boxed(call.op, tangents);
  results.tangents = std::move(tangents);
  return results;
}

// Adds what a call with other arguments gives.
void add_call(const Call& call, Stack arguments, Tensor& sum) {
  call_boxed(call.op, arguments);
  autograd::add_term(sum, Tensor(arguments[0].to_tensor()));
}

}  // namespace

Stack linear_arguments(const Call& call) {
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

Results linear(const Call& call) { return with_tangents(call, linear_arguments(call)); }

Results multilinear(const Call& call) {
  Results results = constant(call);
  Tensor sum;
  for (std::size_t i = 0; i < call.primals.size(); ++i) {
    const TensorBase* tangent = tensor_at(call.tangents, i);
    if (tangent == nullptr) continue;
    Stack arguments = call.primals;
    arguments[i] = *tangent;
    add_call(call, std::move(arguments), sum);
  }
  results.tangents = {sum};
  return results;
}

// add(self, other, alpha) and sub: with one tangent alone it is that, in the shape of the result.
Results sum_of_two(const Call& call) {
  const TensorBase* self = tensor_at(call.tangents, 0);
  const TensorBase* other = tensor_at(call.tangents, 1);
  if (self != nullptr && other != nullptr) return linear(call);
  Results results = constant(call);
  const TensorBase result = results.primals[0].to_tensor();
  Tensor only(self != nullptr ? *self : *other);
  if (self == nullptr) {
    only = only.mul(call.primals[2].to_scalar());
    if (&call.op == &ops::sub_Tensor) only = only.neg();
  }
  results.tangents = {only.expand(result.sizes())};
  return results;
}

// as_strided(self, size, stride, storage_offset), which counts from the beginning of the memory.
Results as_strided(const Call& call) {
  Stack tangents = call.primals;
  const TensorBase primal = call.primals[0].to_tensor(), tangent = call.tangents[0].to_tensor();
  tangents[0] = tangent;
  if (!tangents[3].is_none()) tangents[3] = tangents[3].to_int() - primal.storage_offset() + tangent.storage_offset();
  return with_tangents(call, std::move(tangents));
}

// addmm(self, mat1, mat2, beta, alpha) and baddbmm: beta * self + alpha * (mat1 @ mat2).
Results added_product(const Call& call) {
  Results results = constant(call);
  const TensorBase* added = tensor_at(call.tangents, 0);
  Tensor sum;
  Scalar beta = added != nullptr ? call.primals[3].to_scalar() : Scalar(0);
  for (const std::size_t i : {1, 2}) {
    const TensorBase* tangent = tensor_at(call.tangents, i);
    if (tangent == nullptr) continue;
    Stack arguments = call.primals;
    if (sum.defined()) {
      arguments[0] = sum;
    } else if (added != nullptr) {
      arguments[0] = *added;
    }
    arguments[i] = *tangent;
    arguments[3] = sum.defined() ? Scalar(1) : beta;
    call_boxed(call.op, arguments);
    sum = Tensor(arguments[0].to_tensor());
  }
  if (!sum.defined()) sum = Tensor(*added).mul(beta).expand(results.primals[0].to_tensor().sizes());
  results.tangents = {sum};
  return results;
}

// convolution(input, weight, bias, ...): of both tensors, and what is added.
Results convolution(const Call& call) {
  Results results = constant(call);
  const TensorBase* bias = tensor_at(call.tangents, 2);
  Tensor sum;
  for (const std::size_t i : {0, 1}) {
    const TensorBase* tangent = tensor_at(call.tangents, i);
    if (tangent == nullptr) continue;
    Stack arguments = call.primals;
    arguments[i] = *tangent;
    arguments[2] = bias != nullptr && !sum.defined() ? IValue(*bias) : IValue(TensorBase());
    add_call(call, std::move(arguments), sum);
  }
  const TensorBase result = results.primals[0].to_tensor();
  if (!sum.defined()) {
    // One for each channel, in front of the places.
    const std::int64_t places = call.primals[1].to_tensor().dim() - 2;
    Tensor added(*bias);
    for (std::int64_t i = 0; i < places; ++i) added = added.unsqueeze(-1);
    sum = added.expand(result.sizes());
  }
  results.tangents = {sum};
  return results;
}

}  // namespace keyway::inline v1::forward
