// ContiguousOut: a row-major tensor for a result. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/kernels/operands.h>

namespace keyway::inline v1::cuda {

// `out` itself if it is row-major and has that dtype, else a tensor that finish() copies to it. An undefined `out`
// stays so.
class ContiguousOut {
 public:
  ContiguousOut(const TensorBase& out, ScalarType dtype) : out_(out), target_(out) {
    if (out.defined() && (!out.is_contiguous() || out.dtype() != dtype)) {
      target_ = make_tensor(out.sizes(), dtype, out.device());
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
    if (out_.defined() && out_.numel() > 0 && !target_.is_same(out_)) copy_elements(target_, out_);
  }

 private:
  TensorBase out_;
  TensorBase target_;
};

}  // namespace keyway::inline v1::cuda
