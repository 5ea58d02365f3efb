// vmap: a function of one example, run once for all examples of a batch.
//
//   const Vmap batch(inputs.size(0));
//   const Tensor x = batch.add_batch_dim(inputs);                  // as if it were inputs[i]
//   const Tensor losses = batch.remove_batch_dim(loss(model, x));  // as stack of loss(model, inputs[i])
//
// While it lives, calls of its thread run once for all examples: the batch is a dimension that tensors of an example do
// not show. An operator without a rule for that is called for one example after the other. What leaves it has to go
// through remove_batch_dim(); a tensor of an example is an error in calls outside. The numbers of an example are not
// there: item() is an error, and so is what asks for it, such as a condition on a value.
#pragma once

#include <keyway/batching/vmap_level.h>
#include <keyway/tensor.h>

#include <cstdint>

namespace keyway::inline v1 {

class KEYWAY_API Vmap {
 public:
  // Vmaps may stand within each other; they end in the opposite order. Throws keyway::Error(Value) unless batch_size is
  // positive.
  explicit Vmap(std::int64_t batch_size, Randomness randomness = Randomness::Error);

  // A tensor that is, for each example, its part at one index of dimension `dim`; shares the memory. Throws
  // keyway::Error: `dim` is out of range, or its size is not batch_size.
  Tensor add_batch_dim(const Tensor& inputs, std::int64_t dim = 0) const;
  // The tensors of all examples, along a new dimension `dim`. One that is the same for all is repeated, as a view.
  // Throws keyway::Error(Index) if `dim` is out of range.
  Tensor remove_batch_dim(const Tensor& result, std::int64_t dim = 0) const;
  // Whether there may be another tensor for each example.
  bool is_batched(const Tensor& tensor) const;

 private:
  batching::VmapLevel level_;
};

}  // namespace keyway::inline v1

namespace keyway::inline v1::batching {

// The functions of Vmap, at a level.
KEYWAY_API Tensor add_batch_dim(const Tensor& inputs, std::int64_t dim, const VmapLevel& level);
KEYWAY_API Tensor remove_batch_dim(const Tensor& result, std::int64_t dim, const VmapLevel& level);

}  // namespace keyway::inline v1::batching
