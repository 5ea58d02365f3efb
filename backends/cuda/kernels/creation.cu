// Kernels of factories: what fills a new tensor.
#include <keyway/backends/cuda/driver/pointwise.cuh>
#include <keyway/backends/cuda/kernels/kernels_creation.h>
#include <keyway/core/visit_dtype.h>

namespace keyway::inline v1::cuda {

namespace {

template <typename T>
struct Fill {
  T value;

  KEYWAY_HD T operator()() const { return value; }
};

}  // namespace

void fill_Scalar(const TensorBase&, const Scalar& value, TensorBase& out) {
  visit_any(out.dtype(), "fill", [&]<typename T>() { pointwise(Fill<T>{value.to<T>()}, out); });
}

}  // namespace keyway::inline v1::cuda
