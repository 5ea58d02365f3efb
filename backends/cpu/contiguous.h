// Row-major operands for kernels that do not walk over strides.
#pragma once

#include <keyway/backends/cpu/copy.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1 {

// `tensor` itself if it is row-major and has that dtype, else a copy. An undefined tensor stays so.
inline TensorBase contiguous_as(const TensorBase& tensor, ScalarType dtype) {
  if (!tensor.defined() || (tensor.is_contiguous() && tensor.dtype() == dtype)) return tensor;
  const TensorBase copy = make_tensor(tensor.sizes(), dtype, DeviceType::CPU);
  copy_elements(tensor, copy);
  return copy;
}
inline TensorBase contiguous(const TensorBase& tensor) {
  return tensor.defined() ? contiguous_as(tensor, tensor.dtype()) : tensor;
}

// A row-major place for a result of that dtype: `out` itself if it can be, else a tensor that finish() copies
// to it. An undefined `out` stays so.
class ContiguousOut {
 public:
  ContiguousOut(const TensorBase& out, ScalarType dtype) : out_(out), place_(out) {
    if (out.defined() && (!out.is_contiguous() || out.dtype() != dtype)) {
      place_ = make_tensor(out.sizes(), dtype, DeviceType::CPU);
    }
  }
  explicit ContiguousOut(const TensorBase& out)
      : ContiguousOut(out, out.defined() ? out.dtype() : ScalarType::Undefined) {}

  const TensorBase& tensor() const { return place_; }
  // Null if undefined.
  template <typename T>
  T* data() const {
    return place_.defined() ? static_cast<T*>(place_.data_ptr()) : nullptr;
  }
  void finish() const {
    if (out_.defined() && !place_.is_same(out_)) copy_elements(place_, out_);
  }

 private:
  TensorBase out_;
  TensorBase place_;
};

}  // namespace keyway::inline v1
