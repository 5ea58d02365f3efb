// The operators of the family copy, over copy_elements.
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/kernels_copy.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1::cpu {

Scalar _local_scalar_dense(const TensorBase& self) {
  return visit_dtype<kCastTypes>(self.dtype(), "item", [&]<typename T>() { return Scalar(*self.data_ptr<T>()); });
}

void copy_(TensorBase& self, const TensorBase& src, bool) {
  const bool shares = self.is_alias_of(src);
  const bool identical = shares && self.storage_offset() == src.storage_offset() && self.sizes() == src.sizes() &&
                         self.strides() == src.strides() && self.dtype() == src.dtype();
  if (!shares || identical) {
    copy_elements(src, self);
    return;
  }
  // What overlaps is read whole before any of it is written.
  const TensorBase apart = make_tensor(src.sizes(), src.dtype(), src.device());
  copy_elements(src, apart);
  copy_elements(apart, self);
}

}  // namespace keyway::inline v1::cpu
