#include <keyway/autograd/formulas/formula_words.h>
#include <keyway/autograd/helpers_diagonal.h>
#include <keyway/autograd/helpers_padding.h>
#include <keyway/autograd/helpers_view.h>
#include <keyway/autograd/view_nodes.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

namespace {

// Zeros of these sizes, with `grad` where `view` leads to.
template <typename View>
Tensor in_zeros(const Tensor& grad, IntArrayRef sizes, const View& view) {
  Tensor out = grad.new_zeros(sizes);
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

Tensor constant_pad_nd_backward(const Tensor& grad, IntArrayRef pad) {
  DimVector opposite(pad);
  for (std::int64_t& count : opposite) count = -count;
  return keyway::constant_pad_nd(grad, opposite);
}

Tensor diagonal_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t offset, std::int64_t dim1,
                         std::int64_t dim2) {
  return in_zeros(grad, sizes, [&](const Tensor& zeros) { return zeros.diagonal(offset, dim1, dim2); });
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

// Each element of each window belongs to one position of the dimension; windows that overlap add up.
Tensor unfold_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, std::int64_t size, std::int64_t step) {
  Tensor out = keyway::zeros(sizes, grad.options());
  if (sizes.empty()) return size == 0 ? out : grad.reshape({});
  const std::int64_t at = wrap_dim(dim, len(sizes)), windows = grad.size(at);
  const TensorOptions options = TensorOptions(grad.device()).dtype(kLong);
  const Tensor first = keyway::arange(windows, options) * step;
  const Tensor positions = (first.unsqueeze(1) + keyway::arange(size, options)).reshape({windows * size});
  DimVector rows(sizes);
  rows[static_cast<std::size_t>(at)] = windows * size;
  return out.index_add(at, positions, grad.movedim(-1, at + 1).reshape(rows));
}

}  // namespace keyway::inline v1::autograd
