// Helpers of the derivatives of indexing. `grad` is the gradient of the result.
#pragma once

#include <keyway/tensor.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace keyway::inline v1::autograd {

// The gradient of embedding_dense_backward's grad_output.
KEYWAY_API Tensor embedding_dense_double_backward(const Tensor& grad, const Tensor& indices, std::int64_t num_weights,
                                                  std::int64_t padding_idx, bool scale_grad_by_freq);
// Of gather's self, whose sizes are `sizes`.
KEYWAY_API Tensor gather_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index);
// Of the source of index_add and index_copy.
KEYWAY_API Tensor index_add_source_backward(const Tensor& grad, std::int64_t dim, const Tensor& index,
                                            IntArrayRef sizes, const Scalar& alpha);
// Of _index's self.
KEYWAY_API Tensor index_backward(const Tensor& grad, IntArrayRef sizes, ArrayRef<std::optional<Tensor>> indices);
// Of index_select's self, whose sizes are `sizes`.
KEYWAY_API Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index);
// Of index_copy's self.
KEYWAY_API Tensor index_copy_backward(const Tensor& grad, std::int64_t dim, const Tensor& index);
// Of _index_put's self.
KEYWAY_API Tensor index_put_backward(const Tensor& grad, ArrayRef<std::optional<Tensor>> indices, bool accumulate);
// Of scatter_reduce's self and src. Of the reduction prod with a factor 0 it throws when it is recorded.
KEYWAY_API std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, std::int64_t dim,
                                                              const Tensor& index, const Tensor& src,
                                                              std::string_view reduce, bool include_self,
                                                              const Tensor& result);
// Of the src of scatter and scatter_add, which may be larger than the index.
KEYWAY_API Tensor scatter_src_backward(const Tensor& grad, std::int64_t dim, const Tensor& index, IntArrayRef sizes);

}  // namespace keyway::inline v1::autograd
