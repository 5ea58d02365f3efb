// Operands and results as kernels want them: tensors as they are where that fits, else others beside them. A backend
// gives these templates its own copy_elements (its operands.h).
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <utility>

namespace keyway::inline v1 {

// Null if undefined.
template <typename T>
T* data_or_null(const TensorBase& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.data_ptr()) : nullptr;
}

// A tensor without dimensions as one with a dimension of size 1.
inline TensorBase with_dim(const TensorBase& tensor) {
  return tensor.dim() > 0 ? tensor : make_view(tensor, {1}, {1}, tensor.storage_offset());
}

// A view of the transposes of matrices.
inline TensorBase transposed(const TensorBase& matrices) {
  DimVector sizes(matrices.sizes()), strides(matrices.strides());
  std::swap(sizes[sizes.size() - 2], sizes[sizes.size() - 1]);
  std::swap(strides[strides.size() - 2], strides[strides.size() - 1]);
  return make_view(matrices, sizes, strides, matrices.storage_offset());
}

// The dimensions of a tensor of `rank` dimensions but one.
inline DimVector dims_but(std::int64_t rank, std::int64_t dim) {
  DimVector dims;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (d != dim) dims.push_back(d);
  }
  return dims;
}

namespace operands {

using CopyElements = void (*)(const TensorBase& src, const TensorBase& dst);

// `to`, with the elements of `from`.
template <CopyElements copy>
TensorBase filled(TensorBase to, const TensorBase& from) {
  if (to.numel() > 0) copy(from, to);
  return to;
}

// `tensor` itself if it is row-major and has that dtype, else a copy. An undefined tensor stays so.
template <CopyElements copy>
TensorBase contiguous_as(const TensorBase& tensor, ScalarType dtype) {
  if (!tensor.defined() || (tensor.is_contiguous() && tensor.dtype() == dtype)) return tensor;
  return filled<copy>(make_tensor(tensor.sizes(), dtype, tensor.device()), tensor);
}
// The same, with whatever strides.
template <CopyElements copy>
TensorBase as_dtype(const TensorBase& tensor, ScalarType dtype) {
  return tensor.dtype() == dtype ? tensor : contiguous_as<copy>(tensor, dtype);
}
template <CopyElements copy>
TensorBase contiguous(const TensorBase& tensor) {
  return tensor.defined() ? contiguous_as<copy>(tensor, tensor.dtype()) : tensor;
}

// What kernels begin with that change some elements of a copy of `self`, once every index is tested: `out` has self's
// elements. In place it is self.
template <CopyElements copy>
void begin_as(const TensorBase& self, const TensorBase& out) {
  if (self.numel() > 0 && self.data_ptr() != out.data_ptr()) copy(self, out);
}
// `input` itself, or a copy if it shares memory with what will be written.
template <CopyElements copy>
TensorBase apart_from(const TensorBase& input, const TensorBase& out) {
  if (input.numel() == 0 || !input.is_alias_of(out)) return input;
  return filled<copy>(make_tensor(input.sizes(), input.dtype(), input.device()), input);
}

// A tensor for a result: `out` itself if that fits, else one that finish() copies to it. An undefined `out` stays so.
template <CopyElements copy>
class ResultBeside {
 public:
  const TensorBase& tensor() const { return target_; }
  // Null if undefined.
  template <typename T>
  T* data() const {
    return data_or_null<T>(target_);
  }
  void finish() const {
    if (!target_.is_same(out_)) filled<copy>(out_, target_);
  }

 protected:
  ResultBeside(const TensorBase& out, TensorBase target) : out_(out), target_(std::move(target)) {}

 private:
  TensorBase out_, target_;
};

// Row-major, of that dtype or of its own.
template <CopyElements copy>
class ContiguousOut : public ResultBeside<copy> {
 public:
  ContiguousOut(const TensorBase& out, ScalarType dtype)
      : ResultBeside<copy>(out, !out.defined() || (out.is_contiguous() && out.dtype() == dtype)
                                    ? out
                                    : make_tensor(out.sizes(), dtype, out.device())) {}
  explicit ContiguousOut(const TensorBase& out)
      : ContiguousOut(out, out.defined() ? out.dtype() : ScalarType::Undefined) {}
};

}  // namespace operands

}  // namespace keyway::inline v1
