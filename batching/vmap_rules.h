// Rules: how one call serves all examples of a batch. Which one an operator has, its entry says (OpInfo::batch).
#pragma once

#include <keyway/batching/vmap_level.h>
#include <keyway/core/base/error.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::batching {

// A call of an operator within a level, and outside of it while it is made.
struct Call {
  const OperatorEntry& op;
  const Level& level;
  Stack stack;  // its arguments, in which tensors may be batched; then its results, which begin with the batch
};

// What no call for all examples can be: the caller may be able to do without.
class Refusal final : public Error {
 public:
  explicit Refusal(std::string text)
      : Error(ErrorKind::NotImplemented, "vmap: " + std::move(text), __FILE__, __LINE__) {}
};

// The value of a tensor of the batch; of any other, the tensor repeated for each example, as a view.
TensorBase for_all(const TensorBase& tensor, const Level& level);
// A value with dimensions of size 1 behind the batch, so that examples have `rank` dimensions.
TensorBase with_rank(const TensorBase& value, std::int64_t rank);

// Makes the call for all examples at once. False if it does not serve this call, and then nothing was called.
using Rule = bool (*)(Call& call);
// Element by element; tensors are broadcast.
bool pointwise(Call& call);
// The batch is a dimension in front: arguments that name dimensions count one further.
bool dims(Call& call);
// The same of a view, or of a tensor made after another one: arguments that are a shape begin with the batch.
bool shape(Call& call);
// The same of a reduction, where naming no dimension is naming all.
bool reduction(Call& call);
// Of the last two dimensions of every tensor; the others are of batches anyway.
bool matrices(Call& call);
// Of images: the batch is merged with the dimension of images, and its results are split again.
bool windows(Call& call);

// Of single operators.
bool index(Call& call);
bool index_put(Call& call);
bool along_dim(Call& call);
bool mm(Call& call);
bool bmm(Call& call);
bool addmm(Call& call);
bool baddbmm(Call& call);
bool convolution(Call& call);
bool native_layer_norm(Call& call);
bool batch_norm(Call& call);
bool pad_last(Call& call);
bool pad_last_backward(Call& call);
bool embedding(Call& call);
bool loss_of_classes(Call& call);
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
