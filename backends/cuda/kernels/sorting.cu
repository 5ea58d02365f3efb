// sort, topk and order statistics: each element's key is an integer that sorts as the element does, and
// where the keys go (order.h), the elements go. NaN is greater than all numbers. All dtypes have keys of 32 or 64 bits,
// those of a descending order are inverted: so no kernel but that which makes the keys knows of dtype or direction.
// What bounds an operator is the order; topk finds no more of it than it gives, and gives it sorted in any case. A
// line's element of some rank takes the whole order.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/pointwise.cuh>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/kernels_scatter.h>
#include <keyway/backends/cuda/kernels/kernels_sorting.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/order.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/order_key.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

namespace {

// Operands: values, indices, the order, the line of self that it counts in.
template <typename T>
struct TakeInOrder {
  std::int64_t stride;  // of the line, in elements

  KEYWAY_HD void operator()(const Element<4>& element) const {
    const std::int64_t index = element.at<const std::int64_t>(2);
    element.at<std::int64_t>(1) = index;
    element.at<T>(0) = (&element.at<const T>(3))[index * stride];
  }
};

// Operands: where it is, the rank that is wanted, the line of the order.
struct FindRank {
  static constexpr const char* kElementError = "argument 'ranks' has an element that is out of range";
  std::int64_t length, stride;  // of the line; in elements

  KEYWAY_HD bool operator()(const Element<3>& element) const {
    const std::int64_t wanted = element.at<const std::int64_t>(1);
    if (wanted < 0 || wanted >= length) return false;
    element.at<std::int64_t>(0) = (&element.at<const std::int64_t>(2))[wanted * stride];
    return true;
  }
};

// The tensor with `dim` as its last dimension, the others in order.
TensorBase with_last(const TensorBase& tensor, std::size_t dim) {
  DimVector sizes(tensor.sizes().begin(), tensor.sizes().end());
  DimVector strides(tensor.strides().begin(), tensor.strides().end());
  for (DimVector* const of : {&sizes, &strides}) std::rotate(of->begin() + dim, of->begin() + dim + 1, of->end());
  return make_view(tensor, sizes, strides, tensor.storage_offset());
}

// Where the elements of each line along `dim` are in order, the first `count` of them, at their indices in `sizes`.
TensorBase order_of(const TensorBase& self, std::size_t dim, bool descending, std::int64_t count, IntArrayRef sizes) {
  const TensorBase lines = with_last(self, dim);
  const TensorBase order = visit_dtype<kRealTypes | kBool>(self.dtype(), "sort", [&]<typename T>() {
    using Key = typename OrderKey<T>::Key;
    const TensorBase keys = make_tensor(lines.sizes(), cpp_type_to_scalar_type<Key>, self.device());
    pointwise(OrderKey<T>{descending ? Key{-1} : Key{0}}, keys, lines);
    return stable_row_order(keys, count);
  });
  DimVector strides(order.strides().begin(), order.strides().end());
  std::rotate(strides.begin() + dim, strides.end() - 1, strides.end());
  return make_view(order, sizes, strides, order.storage_offset());
}

// The first elements of each line along `dim`, as many as the results have.
void take_sorted(const TensorBase& self, std::int64_t dim, bool descending, const TensorBase& values,
                 const TensorBase& indices) {
  if (values.numel() == 0) return;
  const TensorBase from = with_dim(self), to = with_dim(values), positions = with_dim(indices);
  const auto d = static_cast<std::size_t>(wrap_dim(dim, from.dim()));
  const TensorBase order = order_of(from, d, descending, to.sizes()[d], to.sizes());
  const IterationSpace space = ElementSpace(to.sizes())
                                   .tensor(to)
                                   .tensor(positions)
                                   .tensor(order)
                                   .line(from, static_cast<std::int64_t>(d))
                                   .space();
  visit_bits(self.itemsize(), [&]<typename T>() { each<4>(space, TakeInOrder<T>{from.strides()[d]}, self.device()); });
}

}  // namespace

void _order_statistic(const TensorBase& self, const TensorBase& ranks, std::int64_t dim, TensorBase& values,
                      TensorBase& indices) {
  if (values.numel() == 0) return;
  const TensorBase from = with_dim(self), to = with_dim(indices);
  const std::int64_t d = wrap_dim(dim, from.dim());
  const auto at = static_cast<std::size_t>(d);
  const std::int64_t n = from.sizes()[at];
  const TensorBase order = order_of(from, at, /*descending=*/false, n, from.sizes());
  const IterationSpace space = ElementSpace(to.sizes()).tensor(to).tensor(with_dim(ranks)).line(order, d).space();
  each<3>(space, FindRank{n, order.strides()[at]}, self.device());
  gather(self, dim, indices, /*sparse_grad=*/false, values);
}

void sort_stable(const TensorBase& self, std::optional<bool>, std::int64_t dim, bool descending, TensorBase& values,
                 TensorBase& indices) {
  take_sorted(self, dim, descending, values, indices);
}

void topk(const TensorBase& self, std::int64_t, std::int64_t dim, bool largest, bool, TensorBase& values,
          TensorBase& indices) {
  take_sorted(self, dim, largest, values, indices);
}

}  // namespace keyway::inline v1::cuda
