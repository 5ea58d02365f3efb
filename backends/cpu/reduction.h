// reduce: the driver of every reduction, over any set of dimensions.
//
//   reduce(Sum<float>{}, out, self, dims);
//   reduce(MaxWithIndex<float>{}, values, indices, self, {1});
//
// Order and error. Elements are accumulated in 64 lanes; a lane takes at most 64 elements one after another,
// then lanes of such blocks are merged pairwise, blocks with blocks and at last lane with lane. So a sum of n
// floats differs from the exact one by at most about (64 + log2(n)) eps times the sum of magnitudes, and
// usually by a few eps. Where several outputs are accumulated side by side each is a lane of its own, with
// the same bound. The order depends on shape and strides only: results are the same to the last bit whatever
// the number of threads, and on every instruction set.
//
// Functors are described in ops/functors/reduction.h. There is one loop for an accumulation: elements of another dtype
// than its own are converted to it on their way, block by block.
#pragma once

#include <keyway/backends/cpu/reduction_loops.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/functors/forms.h>

namespace keyway::inline v1 {

namespace detail {
// `f` is the functor's accumulation; `second` may be null.
KEYWAY_API void run_reduce(const ReduceOp& op, const void* f, const TensorBase& out, const TensorBase* second,
                           const TensorBase& self, IntArrayRef dims);

template <typename F>
void reduce_chosen(const F& functor, const TensorBase& out, const TensorBase* second, const TensorBase& self,
                   IntArrayRef dims) {
  if constexpr (HasForms<F>) {
    functor.choose([&](const auto& form) { reduce_chosen(form, out, second, self, dims); });
  } else {
    const Accumulation<F>& accumulation = functor;
    run_reduce(kReduceOp<F>, &accumulation, out, second, self, dims);
  }
}
}  // namespace detail

// Reduces `self` over `dims`, all dimensions if the list is empty. `out` has self's sizes with 1 for each of
// them, or without them. Requires: dims are distinct and in [0, self.dim()), or 0 for a tensor without
// dimensions; dtypes are the functor's; out shares no memory with self.
template <typename F>
void reduce(const F& functor, const TensorBase& out, const TensorBase& self, IntArrayRef dims) {
  detail::reduce_chosen(functor, out, nullptr, self, dims);
}
// With two results, of equal sizes.
template <typename F>
void reduce(const F& functor, const TensorBase& first, const TensorBase& second, const TensorBase& self,
            IntArrayRef dims) {
  detail::reduce_chosen(functor, first, &second, self, dims);
}

}  // namespace keyway::inline v1
