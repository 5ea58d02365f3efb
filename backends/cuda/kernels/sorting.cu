// sort and topk: each element's key is an integer that sorts as the element does, and where the keys go (order.h), the
// elements go. NaN is greater than all numbers. All dtypes have keys of 32 or 64 bits, those of a descending order are
// turned round: so no kernel but that which makes the keys knows of dtype or direction. What bounds an operator is the
// order; topk finds no more of it than it gives, and gives it sorted in any case.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/pointwise.cuh>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/kernels_sorting.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/order.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

// A key of 64 bits where the element has so many.
template <typename T>
using KeyOf = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

// A float's bits are in order if it is positive, and in the opposite order if it is negative. Zeros are equal, and all
// that is NaN is.
template <typename T>
struct MakeKey {
  using Key = KeyOf<T>;
  Key turn;  // -1 for the opposite order, else 0

  KEYWAY_HD Key operator()(T x) const { return key(x) ^ turn; }

 private:
  KEYWAY_HD static Key key(T x) {
    if constexpr (RealFloat<T>) {
      const auto value = opmath(x);
      if (is_nan(value)) return std::numeric_limits<Key>::max();
      const Key bits = value == 0 ? 0 : std::bit_cast<Key>(value);
      return bits ^ ((bits < 0 ? Key{-1} : Key{0}) & std::numeric_limits<Key>::max());
    } else if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(Key)) {
      return static_cast<Key>(x) ^ std::numeric_limits<Key>::min();  // 0 is the least
    } else {
      return static_cast<Key>(x);
    }
  }
};

// Operands: values, indices, the order, the line of self that it counts in.
template <typename T>
struct TakeInOrder {
  std::int64_t stride;  // of the line, in elements

  KEYWAY_HD void operator()(const Place<4>& place) const {
    const std::int64_t index = place.at<const std::int64_t>(2);
    place.at<std::int64_t>(1) = index;
    place.at<T>(0) = (&place.at<const T>(3))[index * stride];
  }
};

// The tensor with `dim` as its last dimension, the others in order.
TensorBase with_last(const TensorBase& tensor, std::size_t dim) {
  DimVector sizes(tensor.sizes().begin(), tensor.sizes().end());
  DimVector strides(tensor.strides().begin(), tensor.strides().end());
  for (DimVector* const of : {&sizes, &strides}) std::rotate(of->begin() + dim, of->begin() + dim + 1, of->end());
  return make_view(tensor, sizes, strides, tensor.storage_offset());
}

// `order` is row-major, of the elements with `dim` last. Its first elements, one for each of `sizes`, in their places.
TensorBase with_dim_back(const TensorBase& order, std::size_t dim, IntArrayRef sizes) {
  DimVector strides(order.strides().begin(), order.strides().end());
  std::rotate(strides.begin() + dim, strides.end() - 1, strides.end());
  return make_view(order, sizes, strides, order.storage_offset());
}

// The first elements of each line along `dim`, as many as the results have.
template <DtypeSet set>
void take_sorted(const char* name, const TensorBase& self, std::int64_t dim, bool descending, const TensorBase& values,
                 const TensorBase& indices) {
  if (values.numel() == 0) return;
  const TensorBase from = with_dim(self), to = with_dim(values), places = with_dim(indices);
  const auto d = static_cast<std::size_t>(wrap_dim(dim, from.dim()));
  const TensorBase lines = with_last(from, d);
  const TensorBase order = visit_dtype<set>(self.dtype(), name, [&]<typename T>() {
    using Key = typename MakeKey<T>::Key;
    const TensorBase keys = make_tensor(lines.sizes(), cpp_type_to_scalar_type<Key>, self.device());
    pointwise(MakeKey<T>{descending ? Key{-1} : Key{0}}, keys, lines);
    return stable_row_order(keys, to.sizes()[d]);
  });
  const TensorBase wanted = with_dim_back(order, d, to.sizes());
  const Strided space =
      Places(to.sizes()).tensor(to).tensor(places).tensor(wanted).line(from, static_cast<std::int64_t>(d)).space();
  visit_bits(self.itemsize(), [&]<typename T>() { each<4>(space, TakeInOrder<T>{from.strides()[d]}, self.device()); });
}

}  // namespace

void sort_stable(const TensorBase& self, std::optional<bool>, std::int64_t dim, bool descending, TensorBase& values,
                 TensorBase& indices) {
  take_sorted<kRealTypes | kBool>("sort", self, dim, descending, values, indices);
}

void topk(const TensorBase& self, std::int64_t, std::int64_t dim, bool largest, bool, TensorBase& values,
          TensorBase& indices) {
  take_sorted<kRealTypes>("topk", self, dim, largest, values, indices);
}

}  // namespace keyway::inline v1::cuda
