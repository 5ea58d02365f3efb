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

// A row-major tensor for a result of that dtype: `out` itself if it can be, else one that finish() copies
// to it. An undefined `out` stays so.
class ContiguousOut {
 public:
  ContiguousOut(const TensorBase& out, ScalarType dtype) : out_(out), target_(out) {
    if (out.defined() && (!out.is_contiguous() || out.dtype() != dtype)) {
      target_ = make_tensor(out.sizes(), dtype, DeviceType::CPU);
    }
  }
  explicit ContiguousOut(const TensorBase& out)
      : ContiguousOut(out, out.defined() ? out.dtype() : ScalarType::Undefined) {}

  const TensorBase& tensor() const { return target_; }
  // Null if undefined.
  template <typename T>
  T* data() const {
    return target_.defined() ? static_cast<T*>(target_.data_ptr()) : nullptr;
  }
  void finish() const {
    if (out_.defined() && !target_.is_same(out_)) copy_elements(target_, out_);
  }

 private:
  TensorBase out_;
  TensorBase target_;
};

}  // namespace keyway::inline v1
