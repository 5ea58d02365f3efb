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
#include <vector>

namespace keyway::inline v1::batching {

// A call of an operator within a level, and outside of it while it is made.
struct Call {
  const OperatorEntry& op;
  const Level& level;
  Stack stack;  // its arguments, in which tensors may be batched; then its results, which begin with the batch

  // The argument of that name. Throws keyway::Error(Internal) if there is none: the generator refuses entries without
  // those that their rules read.
  IValue& operator[](std::string_view argument) { return stack[position_of(argument)]; }
  const IValue& operator[](std::string_view argument) const { return stack[position_of(argument)]; }
  TensorBase tensor(std::string_view argument) const { return (*this)[argument].to_tensor(); }
  std::size_t position_of(std::string_view argument) const;
};

// What no call for all examples can be: the caller may be able to do without.
class Refusal final : public Error {
 public:
  explicit Refusal(std::string text)
      : Error(ErrorKind::NotImplemented, "vmap: " + std::move(text), __FILE__, __LINE__) {}
};

// The value of a tensor of the batch; of any other, the tensor repeated for each example, as a view.
TensorBase expand_to_batch(const TensorBase& tensor, const Level& level);
// A value with dimensions of size 1 behind the batch, so that examples have `rank` dimensions.
TensorBase with_rank(const TensorBase& value, std::int64_t rank);

// Makes the call for all examples at once. False if it does not serve this call, and then nothing was called. What each
// does is said where their names are, in core/schema/transform_rules.h.
using Rule = bool (*)(Call& call);
bool pointwise(Call& call);
bool dims(Call& call);
bool new_dim(Call& call);
bool shape(Call& call);
bool expand(Call& call);
bool permute(Call& call);
bool squeeze(Call& call);
bool as_strided(Call& call);
bool reduction(Call& call);
bool whole_reduction(Call& call);
bool matrices(Call& call);
bool images(Call& call);
bool index(Call& call);
bool index_put(Call& call);
bool along_dim(Call& call);
bool mm(Call& call);
bool bmm(Call& call);
bool addmm(Call& call);
bool baddbmm(Call& call);
bool convolution(Call& call);
bool layer_norm(Call& call);
bool batch_norm(Call& call);
bool pad(Call& call);
bool pad_backward(Call& call);
bool embedding(Call& call);
bool class_loss(Call& call);
bool attention(Call& call);

// Null if it has none.
Rule rule_of(const OperatorEntry& op);

// Of operators that change the geometry or the history of a batched tensor in place, makes the call: the arguments
// become its result. False of others.
bool change_view(const OperatorEntry& op, Stack& arguments);

// Makes the call for one example after the other and stacks the results. It serves every operator whose results are new
// tensors, or what it writes to.
void call_each(Call& call);
// The arguments of one example.
Stack example_of(const Call& call, std::int64_t example);

}  // namespace keyway::inline v1::batching
