// Average pooling, with windows of one size or ones that divide the input evenly.
//
// A thread has an element of the result and sums over its window, a thread of the gradient over the windows that look
// at its element, in row-major order: no two write to one location. Neighbouring threads read neighbours, so memory
// bounds both where windows are small, and the cache where they overlap.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/kernels_pooling.h>
#include <keyway/backends/cuda/windows.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/mean.h>

namespace keyway::inline v1::cuda {

namespace {

// Windows, and what the sum of one is divided by: how many positions it counts for, unless `divisor` is set.
struct Means {
  Windows windows;
  bool padded = false;
  double divisor = 0;

  KEYWAY_HD double length(const Spot& o) const {
    if (divisor != 0) return divisor;
    const Axis(&axis)[3] = windows.axis;
    return static_cast<double>(axis[0].length(o.of[0], padded)) * static_cast<double>(axis[1].length(o.of[1], padded)) *
           static_cast<double>(axis[2].length(o.of[2], padded));
  }
};

// Operands: out, the plane of the input, the number of the element in its plane.
template <typename T>
struct Average {
  using Wide = Opmath<T>;
  Means means;
  Plane in, out;

  KEYWAY_HD void operator()(const Element<3>& element) const {
    const T* const from = &element.at<const T>(1);
    const Spot o = out.spot(element.number(2));
    Wide sum(0);
    means.windows.window(o).each([&](const Spot& spot) { sum = plus(sum, opmath(from[in.offset(spot)])); });
    element.at<T>(0) = mean_of<T>(sum, means.length(o));
  }
};

// Operands: grad_input, the plane of grad_output, the number of the element in its plane.
template <typename T>
struct Spread {
  using Wide = Opmath<T>;
  Means means;
  Plane in, out;

  KEYWAY_HD void operator()(const Element<3>& element) const {
    const T* const grad = &element.at<const T>(1);
    Wide sum(0);
    means.windows.windows_over(in.spot(element.number(2))).each([&](const Spot& o) {
      sum += opmath(grad[out.offset(o)]) / static_cast<Wide>(means.length(o));
    });
    element.at<T>(0) = static_cast<T>(sum);
  }
};

template <template <typename> typename Op, DtypeSet kDtypes>
void run(const char* op, const Means& means, const Plane& in, const Plane& out, std::size_t rank,
         const TensorBase& from, const TensorBase& to) {
  if (to.numel() == 0) return;
  const TensorBase planes = plane_origins(from, rank);
  const auto spatial = static_cast<std::int64_t>(to.sizes().size() - rank);
  const IterationSpace space = ElementSpace(to.sizes()).tensor(to).tensor(planes).number(spatial).space();
  visit_dtype<kDtypes>(to.dtype(), op, [&]<typename T>() { each<3>(space, Op<T>{means, in, out}, to.device()); });
}

void average(const char* op, const Means& means, const TensorBase& self, const TensorBase& out, std::size_t rank) {
  run<Average, kFloatingTypes | DtypeSet{kLong}>(op, means, Plane(self, rank), Plane(out, rank), rank, self, out);
}
void spread(const char* op, const Means& means, const TensorBase& grad_output, const TensorBase& grad_input,
            std::size_t rank) {
  run<Spread, kFloatingTypes>(op, means, Plane(grad_input, rank), Plane(grad_output, rank), rank, grad_output,
                              grad_input);
}

Means fixed_means(const TensorBase& in, const TensorBase& out, std::size_t rank, IntArrayRef kernel, IntArrayRef stride,
                  IntArrayRef padding, bool padded, std::optional<std::int64_t> divisor) {
  return {fixed_windows(in, out, rank, kernel, stride, padding, {1}), padded, static_cast<double>(divisor.value_or(0))};
}
Means even_means(const TensorBase& in, const TensorBase& out, std::size_t rank) {
  return {even_windows(in, out, rank)};
}

}  // namespace

#include <keyway/backends/common/avg_pool.inc>

}  // namespace keyway::inline v1::cuda
