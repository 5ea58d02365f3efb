// Max pooling, with the index of each maximum in its plane.
//
// A thread has an element of the result and goes through its window. Of the gradient a thread has an element of the
// input and sums, in order, over the windows that may look at it those whose maximum it is. Indices that are not from
// windows like these may lie elsewhere: a kernel before looks for one, and where there is any each element goes through
// all windows of its plane, which costs as many times more. Memory bounds all else.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/kernels_pooling.h>
#include <keyway/backends/cuda/kernels/zeros.h>
#include <keyway/backends/cuda/windows.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1::cuda {

namespace {

// Operands: out, indices, the plane of the input, the number of the element in its plane.
template <typename T>
struct MaxPool {
  Windows windows;
  Plane in, out;

  KEYWAY_HD void operator()(const Element<4>& element) const {
    const T* const from = &element.at<const T>(2);
    const Box box = windows.window(out.spot(element.number(3)));
    T best = lowest_value<T>();
    std::int64_t at = in.number(beginning(box));
    const Axis(&axis)[3] = windows.axis;
    box.each({axis[0].dilation, axis[1].dilation, axis[2].dilation}, [&](const Spot& spot) {
      const T value = from[in.offset(spot)];
      if (!(opmath(value) > opmath(best) || is_nan(value))) return;
      best = value;
      at = in.number(spot);
    });
    element.at<T>(0) = best;
    element.at<std::int64_t>(1) = at;
  }

 private:
  // Somewhere in the input if the window is not.
  KEYWAY_HD Spot beginning(const Box& box) const {
    Spot spot{};
    for (int d = 0; d < 3; ++d) spot.of[d] = box.of[d].begin < in.size[d] ? box.of[d].begin : in.size[d] - 1;
    return spot;
  }
};

// Notes whether an index lies where its window does not look. Operands: the index, the number of its window.
struct FindStray {
  static constexpr const char* kElementError = "argument 'indices' has an element that is out of range";
  Windows windows;
  Plane in, out;
  std::int32_t* found;

  KEYWAY_HD bool operator()(const Element<2>& element) const {
    const std::int64_t index = element.at<const std::int64_t>(0);
    if (index < 0 || index >= in.positions()) return false;
    // Whoever finds one writes the same.
    if (!windows.windows_over(in.spot(index)).has(out.spot(element.number(1)))) *found = 1;
    return true;
  }
};

// Operands: grad_input, the planes of grad_output and of the indices, the number of the element in its plane.
template <typename T>
struct MaxPoolBackward {
  Windows windows;
  Plane in, out, indices;
  const std::int32_t* strays;

  KEYWAY_HD void operator()(const Element<4>& element) const {
    const T* const grad = &element.at<const T>(1);
    const std::int64_t* const index = &element.at<const std::int64_t>(2);
    const std::int64_t number = element.number(3);
    const Box box = *strays != 0 ? windows.all_windows() : windows.windows_over(in.spot(number));
    Opmath<T> sum(0);
    box.each([&](const Spot& o) {
      if (index[indices.offset(o)] == number) sum += opmath(grad[out.offset(o)]);
    });
    element.at<T>(0) = static_cast<T>(sum);
  }
};

void max_pool(const char* op, std::size_t rank, const TensorBase& self, IntArrayRef kernel, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, const TensorBase& out, const TensorBase& indices) {
  if (out.numel() == 0) return;
  const Windows windows = fixed_windows(self, out, rank, kernel, stride, padding, dilation);
  const TensorBase planes = plane_origins(self, rank);
  const auto spatial = static_cast<std::int64_t>(out.sizes().size() - rank);
  const IterationSpace space =
      ElementSpace(out.sizes()).tensor(out).tensor(indices).tensor(planes).number(spatial).space();
  visit_real(self.dtype(), op, [&]<typename T>() {
    each<4>(space, MaxPool<T>{windows, Plane(self, rank), Plane(out, rank)}, out.device());
  });
}

void max_pool_backward(const char* op, std::size_t rank, const Windows& windows, const TensorBase& grad_output,
                       const TensorBase& indices, const TensorBase& grad_input) {
  if (grad_input.numel() == 0) return;
  const Plane in(grad_input, rank), out(grad_output, rank);
  const auto spatial = static_cast<std::int64_t>(grad_input.sizes().size() - rank);
  const TensorBase strays = make_tensor({}, kInt, grad_input.device());
  auto* const found = static_cast<std::int32_t*>(strays.data_ptr());
  fill_with_zeros(strays);
  each<2>(ElementSpace(indices.sizes()).tensor(indices).number(spatial).space(), FindStray{windows, in, out, found},
          grad_input.device());
  const TensorBase grads = plane_origins(grad_output, rank), argmax = plane_origins(indices, rank);
  const IterationSpace space =
      ElementSpace(grad_input.sizes()).tensor(grad_input).tensor(grads).tensor(argmax).number(spatial).space();
  visit_floating(grad_output.dtype(), op, [&]<typename T>() {
    each<4>(space, MaxPoolBackward<T>{windows, in, out, Plane(indices, rank), found}, grad_input.device());
  });
}

}  // namespace

void max_pool2d_with_indices(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef dilation, bool, TensorBase& out, TensorBase& indices) {
  max_pool("max_pool2d_with_indices", 2, self, kernel_size, stride, padding, dilation, out, indices);
}
void max_pool3d_with_indices(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef dilation, bool, TensorBase& out, TensorBase& indices) {
  max_pool("max_pool3d_with_indices", 3, self, kernel_size, stride, padding, dilation, out, indices);
}
void max_pool2d_with_indices_backward(const TensorBase& grad_output, const TensorBase& self, IntArrayRef kernel_size,
                                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool,
                                      const TensorBase& indices, TensorBase& grad_input) {
  max_pool_backward("max_pool2d_with_indices_backward", 2,
                    fixed_windows(self, grad_output, 2, kernel_size, stride, padding, dilation), grad_output, indices,
                    grad_input);
}
void max_pool3d_with_indices_backward(const TensorBase& grad_output, const TensorBase& self, IntArrayRef kernel_size,
                                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool,
                                      const TensorBase& indices, TensorBase& grad_input) {
  max_pool_backward("max_pool3d_with_indices_backward", 3,
                    fixed_windows(self, grad_output, 3, kernel_size, stride, padding, dilation), grad_output, indices,
                    grad_input);
}

}  // namespace keyway::inline v1::cuda
