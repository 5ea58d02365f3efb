// Kernels of factories: what fills a new tensor.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/pointwise.cuh>
#include <keyway/backends/cuda/kernels/kernels_creation.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1::cuda {

namespace {

template <typename T>
struct Fill {
  T value;

  KEYWAY_HD T operator()() const { return value; }
};

// Operands: out, the element's number. Computed in double for floating results and in 64-bit integers for integral
// ones; the last result is known to fit, what comes on the way may wrap.
template <typename T>
struct Arange {
  using Number = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  Number start, step;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    element.at<T>(0) = static_cast<T>(start + static_cast<Number>(element.number(1)) * step);
  }
};

}  // namespace

void arange_start_step(const Scalar& start, const Scalar&, const Scalar& step, TensorBase& out) {
  if (out.numel() == 0) return;
  const IterationSpace space = ElementSpace(out.sizes()).tensor(out).number().space();
  visit_real(out.dtype(), "arange", [&]<typename T>() {
    using Given = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
    using Number = typename Arange<T>::Number;
    each<2>(space, Arange<T>{static_cast<Number>(start.to<Given>()), static_cast<Number>(step.to<Given>())},
            out.device());
  });
}

void fill_Scalar(const TensorBase&, const Scalar& value, TensorBase& out) {
  visit_dtype<kCastTypes>(out.dtype(), "fill", [&]<typename T>() { pointwise(Fill<T>{value.to<T>()}, out); });
}

}  // namespace keyway::inline v1::cuda
