// What the entries of my_ops.json name besides functors and rules: a helper, a composite and kernels.
#include <keyway/keyway.h>

#include <myops/autograd/helpers_my_ops.h>
#include <myops/backends/cpu/kernels_my_ops.h>
#include <myops/ops/my_ops.h>
#include <myops/ops/my_ops_composites.h>

namespace myops {

Tensor autograd::cube_backward(const Tensor& grad, const Tensor& self) { return grad * keyway::square(self); }

Tensor composite::quartic(const Tensor& self, const Scalar& scale) { return self * myops::cube(self) * scale; }

void cpu::flip_rows(const TensorBase& self, TensorBase& out) {
  const std::int64_t rows = self.sizes()[0];
  const keyway::Tensor from(self), to(out);
  for (std::int64_t i = 0; i < rows; ++i) to.select(0, rows - 1 - i).copy_(from.select(0, i));
}

void cpu::named(const TensorBase& self, std::int64_t text, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                std::int64_t node, std::int64_t result, std::int64_t, std::int64_t, TensorBase& out) {
  keyway::Tensor(out).copy_(keyway::Tensor(self) * (text * node * result));
}

}  // namespace myops
