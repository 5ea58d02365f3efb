// Operators of layers, whose weights are the same for all examples, or each example's own.
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/tensor/reduction.h>
#include <keyway/dispatch/call/call.h>

namespace keyway::inline v1::batching {
namespace {

bool is_of_batch(const Call& call, std::size_t place) {
  const TensorBase tensor = call.stack[place].to_tensor();
  return value_at(tensor, call.level) != nullptr;
}

Tensor for_all(const Call& call, std::size_t place) {
  return Tensor(for_all(call.stack[place].to_tensor(), call.level));
}

// Channels, in front of `dims` dimensions of space: of shape [O, 1, 1], or [batch, 1, O, 1, 1].
Tensor along_channels(const Call& call, std::size_t place, std::int64_t dims) {
  Tensor bias = is_of_batch(call, place) ? for_all(call, place).unsqueeze(1) : Tensor(call.stack[place].to_tensor());
  for (std::int64_t i = 0; i < dims; ++i) bias = bias.unsqueeze(-1);
  return bias;
}

// Whether a bias that is added after the convolution is one that it would take.
bool is_bias(const Call& call) {
  const TensorBase weight = call.stack[1].to_tensor();
  const TensorBase bias = call.stack[2].to_tensor();
  const bool transposed = call.stack[6].to_bool();
  const std::int64_t channels = transposed ? weight.size(1) * call.stack[8].to_int() : weight.size(0);
  return bias.dim() == 1 && bias.size(0) == channels && bias.dtype() == weight.dtype();
}

}  // namespace

// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups): images of all
// examples are more images; with weights of each example, its channels are groups of their own.
bool convolution(Call& call) {
  const std::int64_t rank = call.stack[0].to_tensor().dim();
  if (rank < 3 || call.stack[1].to_tensor().dim() != rank) return false;
  const std::int64_t batch = call.level.batch_size();
  const bool has_bias = call.stack[2].to_tensor().defined();
  const bool adds_bias = has_bias && (is_of_batch(call, 1) || is_of_batch(call, 2));
  if (adds_bias && !is_bias(call)) return false;
  const Tensor bias = adds_bias ? along_channels(call, 2, rank - 2) : Tensor();
  Stack arguments = call.stack;
  if (adds_bias) arguments[2] = IValue(TensorBase());
  Tensor result;
  if (is_of_batch(call, 1)) {
    arguments[0] = for_all(call, 0).movedim(0, 1).flatten(1, 2);
    arguments[1] = for_all(call, 1).flatten(0, 1);
    arguments[8] = arguments[8].to_int() * batch;
    call_boxed(call.op, arguments);
    result = Tensor(arguments[0].to_tensor()).unflatten(1, {batch, -1}).movedim(1, 0);
  } else {
    const std::int64_t images = call.stack[0].to_tensor().size(0);
    arguments[0] = for_all(call, 0).flatten(0, 1);
    call_boxed(call.op, arguments);
    result = Tensor(arguments[0].to_tensor()).unflatten(0, {batch, images});
  }
  call.stack = {adds_bias ? result.add(bias) : result};
  return true;
}

// native_layer_norm(input, normalized_shape, weight, bias, eps): weights of each example are applied afterwards.
bool native_layer_norm(Call& call) {
  const std::int64_t rank = call.stack[0].to_tensor().dim();
  if (rank < static_cast<std::int64_t>(call.stack[1].to_int_list().size())) return false;
  const bool is_affine_of_each = is_of_batch(call, 2) || is_of_batch(call, 3);
  const ScalarType dtype = call.stack[0].to_tensor().dtype();
  Stack arguments = call.stack;
  arguments[0] = for_all(call, 0);
  if (is_affine_of_each) arguments[2] = arguments[3] = IValue(TensorBase());
  const auto affine = [&](std::size_t place) {
    const TensorBase tensor = call.stack[place].to_tensor();
    const TensorBase* value = value_at(tensor, call.level);
    return value != nullptr ? Tensor(with_rank(*value, rank)) : Tensor(tensor);
  };
  if (is_affine_of_each) {
    for (std::size_t place : {2, 3}) {
      const TensorBase tensor = call.stack[place].to_tensor();
      if (!tensor.defined()) continue;
      if (tensor.dtype() != dtype || tensor.sizes() != IntArrayRef(call.stack[1].to_int_list())) return false;
    }
  }
  call_boxed(call.op, arguments);
  if (is_affine_of_each) {
    Tensor result(arguments[0].to_tensor());
    if (call.stack[2].to_tensor().defined()) result = result.mul(affine(2));
    if (call.stack[3].to_tensor().defined()) result = result.add(affine(3));
    arguments[0] = result;
  }
  call.stack = std::move(arguments);
  return true;
}

// _batch_norm_forward(input, weight, bias, eps), and its gradient (grad_out, input, mean, var, weight, eps,
// output_mask): the channels of all examples are channels of one call.
bool batch_norm(Call& call) {
  const std::int64_t batch = call.level.batch_size();
  update_tensors(call.stack, [&](TensorBase& tensor) {
    const Tensor value(for_all(tensor, call.level));
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

// constant_pad_nd(self, pad, value), _pad_from_inside(self, pad, mode): of the last dimensions, those of the example.
bool pad_last(Call& call) {
  const TensorBase self = call.stack[0].to_tensor();
  if (std::ssize(call.stack[1].to_int_list()) > 2 * self.dim()) return false;
  call.stack[0] = for_all(self, call.level);
  call_boxed(call.op, call.stack);
  return true;
}

// _pad_from_inside_backward(grad_output, input_sizes, pad, mode)
bool pad_last_backward(Call& call) {
  const TensorBase grad = call.stack[0].to_tensor();
  auto sizes = call.stack[1].to_int_list();
  if (std::ssize(sizes) != grad.dim()) return false;
  sizes.insert(sizes.begin(), call.level.batch_size());
  call.stack[0] = for_all(grad, call.level);
  call.stack[1] = IValue(std::move(sizes));
  call_boxed(call.op, call.stack);
  return true;
}

// embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse): of weights of each example, rows are gathered.
bool embedding(Call& call) {
  if (!is_of_batch(call, 0)) {
    call.stack[1] = for_all(call, 1);
    call_boxed(call.op, call.stack);
    return true;
  }
  const bool plain = call.stack[2].to_int() < 0 && !call.stack[3].to_bool() && !call.stack[4].to_bool();
  if (!plain || call.stack[0].to_tensor().dim() != 2) return false;
  const Tensor weight = for_all(call, 0);
  const Tensor indices = for_all(call, 1);
  const Tensor rows = indices.reshape({indices.size(0), -1, 1}).to(kLong);
  const Tensor gathered = weight.gather(1, rows.expand({-1, -1, weight.size(2)}));
  std::vector<std::int64_t> sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(weight.size(2));
  call.stack = {gathered.reshape(sizes)};
  return true;
}

// _scaled_dot_product_attention_forward(query, key, value, attn_mask, is_causal, scale), and its gradient, whose first
// argument is grad_output: examples of all are more examples of one call.
bool attention(Call& call) {
  const std::size_t mask = call.stack.size() == 6 ? 3 : 4;
  const TensorBase first = call.stack[0].to_tensor();
  const std::int64_t count = first.dim() > 0 ? first.size(0) : 0, batch = call.level.batch_size();
  bool fits = count > 0;
  for_each_tensor(call.stack, [&](const TensorBase& tensor) {
    const bool is_mask = call.stack[mask].is_tensor() && tensor.is_same(call.stack[mask].to_tensor());
    fits = fits && tensor.dim() >= 3 && (tensor.size(0) == count || (is_mask && tensor.size(0) == 1));
  });
  if (!fits) return false;
  update_tensors(call.stack, [&](TensorBase& tensor) {
    const Tensor value(for_all(tensor, call.level));
    DimVector sizes(value.sizes());
    sizes[1] = count;  // a mask may be the same for all
    tensor = value.expand(sizes).flatten(0, 1);
  });
  call_boxed(call.op, call.stack);
  update_tensors(call.stack, [&](TensorBase& result) { result = Tensor(result).unflatten(0, {batch, count}); });
  return true;
}

// nll_loss_forward and _cross_entropy_forward(self, target, weight, reduction, ignore_index): losses of all examples,
// which are then reduced for each.
bool loss_of_classes(Call& call) {
  const TensorBase self = call.stack[0].to_tensor();
  const TensorBase target = call.stack[1].to_tensor();
  const std::int64_t reduction = call.stack[3].to_int();
  const bool one = self.dim() == 1 && target.dim() == 0;
  const bool several = self.dim() == 2 && target.dim() == 1 && self.size(0) == target.size(0);
  const TensorBase weight = call.stack[2].to_tensor();
  if ((!one && !several) || is_of_batch(call, 2) || reduction < 0 || reduction > 2) return false;
  const std::int64_t count = one ? 1 : self.size(0);
  const auto flat = [&](std::size_t place) { return one ? for_all(call, place) : for_all(call, place).flatten(0, 1); };
  const Tensor targets = flat(1);
  Stack arguments = call.stack;
  arguments[0] = flat(0);
  arguments[1] = targets;
  arguments[3] = Reduction::None;
  call_boxed(call.op, arguments);
  Tensor losses(arguments[0].to_tensor());
  const Tensor counts = targets.ne(Scalar(call.stack[4].to_int()));
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
