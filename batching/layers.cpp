// Operators of layers, whose weights are the same for all examples, or each example's own.
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/tensor/reduction.h>
#include <keyway/dispatch/call/call.h>

namespace keyway::inline v1::batching {
namespace {

bool is_of_batch(const VmapCall& call, std::string_view argument) {
  const TensorBase tensor = call.tensor(argument);
  return value_at(tensor, call.level) != nullptr;
}

Tensor expand_to_batch(const VmapCall& call, std::string_view argument) {
  return Tensor(expand_to_batch(call.tensor(argument), call.level));
}

// The bias, in front of `dims` dimensions of space: of shape [O, 1, 1], or [batch, 1, O, 1, 1].
Tensor bias_along_channels(const VmapCall& call, std::int64_t dims) {
  Tensor bias = is_of_batch(call, "bias") ? expand_to_batch(call, "bias").unsqueeze(1) : Tensor(call.tensor("bias"));
  for (std::int64_t i = 0; i < dims; ++i) bias = bias.unsqueeze(-1);
  return bias;
}

// Whether a bias that is added after the convolution is one that it would take.
bool is_bias(const VmapCall& call) {
  const TensorBase weight = call.tensor("weight"), bias = call.tensor("bias");
  const std::int64_t channels =
      call["transposed"].to_bool() ? weight.size(1) * call["groups"].to_int() : weight.size(0);
  return bias.dim() == 1 && bias.size(0) == channels && bias.dtype() == weight.dtype();
}

}  // namespace

// Images of all examples are more images; with weights of each example, its channels are groups of their own.
bool convolution(VmapCall& call) {
  const std::int64_t rank = call.tensor("input").dim(), batch = call.level.batch_size();
  if (rank < 3 || call.tensor("weight").dim() != rank) return false;
  const bool weights_of_each = is_of_batch(call, "weight");
  const bool adds_bias = call.tensor("bias").defined() && (weights_of_each || is_of_batch(call, "bias"));
  if (adds_bias && !is_bias(call)) return false;
  const Tensor bias = adds_bias ? bias_along_channels(call, rank - 2) : Tensor();
  if (adds_bias) call["bias"] = IValue(TensorBase());
  const std::int64_t images = call.tensor("input").size(0);
  if (weights_of_each) {
    call["input"] = expand_to_batch(call, "input").movedim(0, 1).flatten(1, 2);
    call["weight"] = expand_to_batch(call, "weight").flatten(0, 1);
    call["groups"] = call["groups"].to_int() * batch;
  } else {
    call["input"] = expand_to_batch(call, "input").flatten(0, 1);
  }
  call_boxed(call.op, call.stack);
  Tensor result(call.stack[0].to_tensor());
  result = weights_of_each ? result.unflatten(1, {batch, -1}).movedim(1, 0) : result.unflatten(0, {batch, images});
  call.stack = {adds_bias ? result.add(bias) : result};
  return true;
}

// Weights of each example are applied afterwards.
bool layer_norm(VmapCall& call) {
  const TensorBase input = call.tensor("input");
  const Tensor weight(call.tensor("weight")), bias(call.tensor("bias"));
  const std::vector<std::int64_t> shape = call["normalized_shape"].to_int_list();
  if (input.dim() < std::ssize(shape)) return false;
  const bool affine_of_each = is_of_batch(call, "weight") || is_of_batch(call, "bias");
  for (const Tensor& parameter : {weight, bias}) {
    if (!affine_of_each || !parameter.defined()) continue;
    if (parameter.dtype() != input.dtype() || parameter.sizes() != IntArrayRef(shape)) return false;
  }
  call["input"] = expand_to_batch(call, "input");
  if (affine_of_each) call["weight"] = call["bias"] = IValue(TensorBase());
  call_boxed(call.op, call.stack);
  if (!affine_of_each) return true;
  const auto beside_result = [&](const Tensor& parameter) {
    const TensorBase* value = value_at(parameter, call.level);
    return value != nullptr ? Tensor(with_rank(*value, input.dim())) : parameter;
  };
  Tensor result(call.stack[0].to_tensor());
  if (weight.defined()) result = result.mul(beside_result(weight));
  if (bias.defined()) result = result.add(beside_result(bias));
  call.stack[0] = result;
  return true;
}

// The channels of all examples are channels of one call.
bool batch_norm(VmapCall& call) {
  const std::int64_t batch = call.level.batch_size();
  update_tensors(call.stack, [&](TensorBase& tensor) {
    const Tensor value(expand_to_batch(tensor, call.level));
    tensor = value.dim() > 2 ? value.movedim(0, 1).flatten(1, 2) : value.flatten(0, 1);
  });
  call_boxed(call.op, call.stack);
  update_tensors(call.stack, [&](TensorBase& tensor) {
    const Tensor result(tensor);
    const Tensor channels = result.unflatten(result.dim() > 1 ? 1 : 0, {batch, -1});
    tensor = result.dim() > 1 ? channels.movedim(1, 0) : channels;
  });
  return true;
}

// Of the last dimensions, those of the example.
bool pad(VmapCall& call) {
  const TensorBase self = call.tensor("self");
  if (std::ssize(call["pad"].to_int_list()) > 2 * self.dim()) return false;
  call["self"] = expand_to_batch(self, call.level);
  return call_op(call);
}

bool pad_backward(VmapCall& call) {
  const TensorBase grad = call.tensor("grad_output");
  std::vector<std::int64_t> sizes = call["input_sizes"].to_int_list();
  if (std::ssize(sizes) != grad.dim()) return false;
  sizes.insert(sizes.begin(), call.level.batch_size());
  call["grad_output"] = expand_to_batch(grad, call.level);
  call["input_sizes"] = std::move(sizes);
  return call_op(call);
}

// Of weights of each example, rows are gathered.
bool embedding(VmapCall& call) {
  if (!is_of_batch(call, "weight")) {
    call["indices"] = expand_to_batch(call, "indices");
    return call_op(call);
  }
  const bool plain =
      call["padding_idx"].to_int() < 0 && !call["scale_grad_by_freq"].to_bool() && !call["sparse"].to_bool();
  if (!plain || call.tensor("weight").dim() != 2) return false;
  const Tensor weight = expand_to_batch(call, "weight"), indices = expand_to_batch(call, "indices");
  const Tensor rows = indices.reshape({indices.size(0), -1, 1}).to(kLong);
  const Tensor gathered = weight.gather(1, rows.expand({-1, -1, weight.size(2)}));
  std::vector<std::int64_t> sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(weight.size(2));
  call.stack = {gathered.reshape(sizes)};
  return true;
}

// Examples of all are more examples of one call. The first argument has as many of them as all others but a mask, which
// may be the same for all.
bool attention(VmapCall& call) {
  const TensorBase mask = call.tensor("attn_mask"), first = call.stack[0].to_tensor();
  const std::int64_t count = first.dim() > 0 ? first.size(0) : 0, batch = call.level.batch_size();
  const auto does_not_fit = [&](const TensorBase& tensor) {
    const bool is_mask = mask.defined() && tensor.is_same(mask);
    return tensor.dim() < 3 || (tensor.size(0) != count && !(is_mask && tensor.size(0) == 1));
  };
  if (count == 0 || any_tensor_in(call.stack, does_not_fit)) return false;
  update_tensors(call.stack, [&](TensorBase& tensor) {
    const Tensor value(expand_to_batch(tensor, call.level));
    DimVector sizes(value.sizes());
    sizes[1] = count;  // a mask may be the same for all
    tensor = value.expand(sizes).flatten(0, 1);
  });
  call_boxed(call.op, call.stack);
  update_tensors(call.stack, [&](TensorBase& result) { result = Tensor(result).unflatten(0, {batch, count}); });
  return true;
}

// Losses of all examples, which are then reduced for each. `self` has a dimension of classes, and may have one of
// observations in front.
bool class_loss(VmapCall& call) {
  const TensorBase self = call.tensor("self"), target = call.tensor("target"), weight = call.tensor("weight");
  const std::int64_t reduction = call["reduction"].to_int(), ignore_index = call["ignore_index"].to_int();
  const bool one = self.dim() == 1 && target.dim() == 0;
  const bool several = self.dim() == 2 && target.dim() == 1 && self.size(0) == target.size(0);
  if ((!one && !several) || is_of_batch(call, "weight") || reduction < 0 || reduction > 2) return false;
  const std::int64_t count = one ? 1 : self.size(0);
  const auto flat = [&](std::string_view argument) {
    return one ? expand_to_batch(call, argument) : expand_to_batch(call, argument).flatten(0, 1);
  };
  const Tensor targets = flat("target");
  Stack& arguments = call.stack;
  call["self"] = flat("self");
  call["target"] = targets;
  call["reduction"] = Reduction::None;
  call_boxed(call.op, arguments);
  Tensor losses(arguments[0].to_tensor());
  const Tensor counts = targets.ne(Scalar(ignore_index));
  Tensor weights = counts.to(losses.dtype());
  if (weight.defined()) {
    const Tensor of_targets = Tensor(weight).index_select(0, targets.mul(counts));
    weights = of_targets.masked_fill(counts.logical_not(), 0);
  }
  losses = losses.reshape({call.level.batch_size(), count});
  const bool normalizes = arguments.size() == 3;
  Tensor normalizers = normalizes ? Tensor(arguments[2].to_tensor()) : Tensor();
  if (normalizes && !one) normalizers = normalizers.unflatten(0, {call.level.batch_size(), count});
  const Tensor total = weights.reshape({call.level.batch_size(), count}).sum(1);
  if (reduction == Reduction::None) {
    call.stack = {one ? losses.squeeze(1) : losses, total.mul(0)};
  } else {
    const Tensor sum = losses.sum(1);
    call.stack = {reduction == Reduction::Mean ? sum.div(total) : sum, total};
  }
  if (normalizes) call.stack.push_back(normalizers);
  return true;
}

}  // namespace keyway::inline v1::batching
