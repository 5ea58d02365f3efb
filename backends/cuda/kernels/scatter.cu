// gather and scatter: along a dimension, each line of one tensor is read or written where a line of indices says.
// Bound by memory, at addresses that indices scatter; where several elements of src may meet, by the sort that puts
// them in order (targets.cuh).
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/kernels_scatter.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/scatter_rows.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>
#include <cstring>

namespace keyway::inline v1::cuda {

namespace {

// Operands: out, the index, the line of self that it counts in.
template <typename T>
struct Gather {
  static constexpr const char* kElementError = "argument 'index' has an element that is out of range";
  std::int64_t length, stride;  // of a line; in elements

  KEYWAY_HD bool operator()(const Element<3>& element) const {
    const std::int64_t index = element.at<const std::int64_t>(1);
    if (index < 0 || index >= length) return false;
    element.at<T>(0) = (&element.at<const T>(2))[index * stride];
    return true;
  }
};

// Operands: the line of out, the index. Several may write to one element, and write the same there.
template <typename T>
struct ScatterValue {
  static constexpr const char* kElementError = "argument 'index' has an element that is out of range";
  std::int64_t length, stride;  // of a line; in elements
  T value;

  KEYWAY_HD bool operator()(const Element<2>& element) const {
    const std::int64_t index = element.at<const std::int64_t>(1);
    if (index < 0 || index >= length) return false;
    (&element.at<T>(0))[index * stride] = value;
    return true;
  }
};

// The element's bytes as something of its size.
template <typename T>
T bits_of(const Scalar& value, ScalarType dtype) {
  return visit_dtype<kCastTypes>(dtype, "scatter", [&]<typename E>() {
    const E element = value.to<E>();
    T bits{};
    std::memcpy(&bits, &element, std::min(sizeof(T), sizeof(E)));
    return bits;
  });
}

}  // namespace

void gather(const TensorBase& self, std::int64_t dim, const TensorBase& index, bool, TensorBase& out) {
  if (index.numel() == 0) return;
  const TensorBase from = with_dim(self), indices = with_dim(as_dtype(index, kLong)), to = with_dim(out);
  const auto d = static_cast<std::size_t>(wrap_dim(dim, from.dim()));
  const IterationSpace space =
      ElementSpace(to.sizes()).tensor(to).tensor(indices).line(from, static_cast<std::int64_t>(d)).space();
  visit_bits(self.itemsize(), [&]<typename T>() {
    each<3>(space, Gather<T>{from.sizes()[d], from.strides()[d]}, out.device());
  });
}

void scatter_src(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                 TensorBase& out) {
  const ScatterRows rows(self, dim, index, src, out);
  rows.indexed.write(rows.offsets);
}

void scatter_value(const TensorBase& self, std::int64_t dim, const TensorBase& index, const Scalar& value,
                   TensorBase& out) {
  const TensorBase indices = with_dim(as_dtype(apart_from(index, out), kLong)), to = with_dim(out);
  begin_as(self, out);
  if (index.numel() == 0) return;
  const auto d = static_cast<std::size_t>(dim);
  const IterationSpace space = ElementSpace(indices.sizes()).line(to, dim).tensor(indices).space();
  visit_bits(self.itemsize(), [&]<typename T>() {
    each<2>(space, ScatterValue<T>{to.sizes()[d], to.strides()[d], bits_of<T>(value, self.dtype())}, out.device());
  });
}

void scatter_add(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
                 TensorBase& out) {
  const ScatterRows rows(self, dim, index, src, out);
  rows.indexed.add(rows.offsets, 1);
}

}  // namespace keyway::inline v1::cuda
