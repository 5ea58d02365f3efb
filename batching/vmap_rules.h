// Rules: how one call serves all examples of a batch. Which one an operator has, its entry says (OpInfo::vmap).
#pragma once

#include <keyway/batching/vmap_level.h>
#include <keyway/core/base/error.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace keyway::inline v1::batching {

// A call to be batched at `level`; while a rule runs, the thread is outside that level.
struct VmapCall {
  const OperatorEntry& op;
  const VmapLevel& level;
  Stack stack;  // its arguments, in which tensors may be batched; then its results, which begin with the batch

  // The argument of that name. Throws keyway::Error(Internal) if there is none: the generator refuses entries without
  // those that their rules read.
  IValue& operator[](std::string_view argument) { return stack[position_of(argument)]; }
  const IValue& operator[](std::string_view argument) const { return stack[position_of(argument)]; }
  TensorBase tensor(std::string_view argument) const { return (*this)[argument].to_tensor(); }
  std::size_t position_of(std::string_view argument) const { return op.position_of(argument); }
};

// Thrown when a call cannot be made for all examples at once; the caller may then run it per example.
class CannotBatch final : public Error {
 public:
  explicit CannotBatch(std::string text)
      : Error(ErrorKind::NotImplemented, "vmap: " + std::move(text), __FILE__, __LINE__) {}
};

// The value of a tensor of the batch; of any other, the tensor repeated for each example, as a view.
TensorBase expand_to_batch(const TensorBase& tensor, const VmapLevel& level);
// A value with dimensions of size 1 behind the batch, so that examples have `rank` dimensions.
TensorBase with_rank(const TensorBase& value, std::int64_t rank);
// Calls the operator with the arguments as a rule has left them, and returns true.
bool call_op(VmapCall& call);

// Makes the call for all examples at once. False if it does not serve this call, and then nothing was called. What each
// does is said where their names are, in core/schema/transform_rules.h.
using VmapRule = bool (*)(VmapCall& call);
bool pointwise(VmapCall& call);
bool dims(VmapCall& call);
bool new_dim(VmapCall& call);
bool shape(VmapCall& call);
bool expand(VmapCall& call);
bool permute(VmapCall& call);
bool squeeze(VmapCall& call);
bool as_strided(VmapCall& call);
bool reduction(VmapCall& call);
bool whole_reduction(VmapCall& call);
bool matrices(VmapCall& call);
bool images(VmapCall& call);
bool index(VmapCall& call);
bool index_put(VmapCall& call);
bool along_dim(VmapCall& call);
bool mm(VmapCall& call);
bool bmm(VmapCall& call);
bool addmm(VmapCall& call);
bool baddbmm(VmapCall& call);
bool convolution(VmapCall& call);
bool layer_norm(VmapCall& call);
bool batch_norm(VmapCall& call);
bool pad(VmapCall& call);
bool pad_backward(VmapCall& call);
bool embedding(VmapCall& call);
bool class_loss(VmapCall& call);
bool attention(VmapCall& call);

// Null if it has none.
VmapRule rule_of(const OperatorEntry& op);

// If `op` changes the geometry or the history of a batched tensor in place, makes the call, replaces `arguments` by the
// result and returns true.
bool change_view(const OperatorEntry& op, Stack& arguments);

// Makes the call for one example after the other and stacks the results. It serves every operator whose results are new
// tensors, or what it writes to.
void call_each(VmapCall& call);
// The arguments of one example.
Stack example_of(const VmapCall& call, std::int64_t example);

}  // namespace keyway::inline v1::batching
