// What the entries of my_ops.json name besides functors and rules: a helper, a composite and kernels.
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/keyway.h>

#include <myops/autograd/helpers_my_ops.h>
#include <myops/backends/cpu/kernels_my_ops.h>
#include <myops/ops/my_ops.h>
#include <myops/ops/my_ops_composites.h>

namespace myops {

Tensor autograd::cube_backward(const Tensor& grad, const Tensor& self) { return grad * keyway::square(self); }

Tensor composite::quartic(const Tensor& self, const Scalar& scale) { return self * myops::cube(self) * scale; }

void cpu::flip_rows(const TensorBase& self, TensorBase& out) {
  const std::int64_t rows = self.sizes()[0], columns = self.sizes()[1];
  const float* from = self.data_ptr<float>();
  float* to = out.data_ptr<float>();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to[(rows - 1 - i) * out.strides()[0] + j * out.strides()[1]] =
          from[i * self.strides()[0] + j * self.strides()[1]];
}

void cpu::named(const TensorBase& self, std::int64_t text, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                std::int64_t node, std::int64_t result, std::int64_t, std::int64_t, TensorBase& out) {
  keyway::visit_dtype<keyway::kFloatingTypes>(self.dtype(), "named", [&]<typename T>() {
    for (std::int64_t i = 0; i < out.numel(); ++i)
      out.data_ptr<T>()[i * out.strides()[0]] =
          self.data_ptr<T>()[i * self.strides()[0]] * static_cast<T>(static_cast<double>(text * node * result));
  });
}

void cpu::reversed(const TensorBase& self, TensorBase& out) {
  keyway::visit_dtype<keyway::kFloatingTypes>(self.dtype(), "reversed", [&]<typename T>() {
    const std::int64_t count = self.numel();
    for (std::int64_t i = 0; i < count; ++i)
      out.data_ptr<T>()[(count - 1 - i) * out.strides()[0]] = self.data_ptr<T>()[i * self.strides()[0]];
  });
}

}  // namespace myops
