#include <keyway/autograd/formula_words.h>
#include <keyway/autograd/shape_formulas.h>
#include <keyway/autograd/view_nodes.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

namespace {

// Zeros of these sizes, with `grad` where `view` leads to.
template <typename View>
Tensor in_zeros(const Tensor& grad, IntArrayRef sizes, const View& view) {
  Tensor out = keyway::zeros(sizes, grad.options());
  view(out).copy_(grad);
  return out;
}

}  // namespace

Tensor as_strided_backward(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef self_strides,
                           std::int64_t self_offset, IntArrayRef size, IntArrayRef stride,
                           std::optional<std::int64_t> storage_offset) {
  return as_strided_backward(grad, self_sizes, self_strides, self_offset, size, stride,
                             storage_offset.value_or(self_offset));
}

Tensor permute_backwards(const Tensor& grad, IntArrayRef dims) {
  DimVector inverse(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    inverse[static_cast<std::size_t>(wrap_dim(dims[i], len(dims)))] = static_cast<std::int64_t>(i);
  }
  return grad.permute(inverse);
}

Tensor select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, std::int64_t index) {
  return in_zeros(grad, sizes, [&](const Tensor& zeros) { return zeros.select(dim, index); });
}

Tensor slice_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, std::optional<std::int64_t> start,
                      std::optional<std::int64_t> end, std::int64_t step) {
  return in_zeros(grad, sizes, [&](const Tensor& zeros) { return zeros.slice(dim, start, end, step); });
}

}  // namespace keyway::inline v1::autograd
