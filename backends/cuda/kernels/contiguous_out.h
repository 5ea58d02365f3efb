// ContiguousOut: a row-major place for a result. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/kernels/operands.h>

namespace keyway::inline v1::cuda {

// `out` itself if it is row-major and has that dtype, else a tensor that finish() copies to it. An undefined `out`
// stays so.
class ContiguousOut {
 public:
  ContiguousOut(const TensorBase& out, ScalarType dtype) : out_(out), place_(out) {
    if (out.defined() && (!out.is_contiguous() || out.dtype() != dtype)) {
      place_ = make_tensor(out.sizes(), dtype, out.device());
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
    if (out_.defined() && out_.numel() > 0 && !place_.is_same(out_)) copy_elements(place_, out_);
  }

 private:
  TensorBase out_;
  TensorBase place_;
};

}  // namespace keyway::inline v1::cuda
