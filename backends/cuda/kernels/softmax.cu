// _softmax and _log_softmax. The greatest element of a row is subtracted first, so nothing overflows; sums are kept in
// the accumulation type. A long row is read twice: for the greatest element and the sum together, and for the result.
#include <keyway/backends/cuda/driver/row_values.cuh>
#include <keyway/backends/cuda/kernels/kernels_softmax.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/top_and_sum.cuh>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace keyway::inline v1::cuda {

namespace {

// Calls f(distances, powers, sum): of the elements of operand 1 from the greatest of their row, the exponentials of
// these, and the sum of those.
template <typename T, typename F>
__device__ void with_powers(const Row<2>& row, auto held, const F& f) {
  using Acc = Opmath<T>;
  const auto x = values_of(
      row, held, [](T element) { return opmath(element); }, Operand<T>{1});
  const auto with_top = [&](Acc top, const auto& sum_of) {
    const auto distances = x.map([top](Acc element) { return element - top; });
    const auto powers = distances.map([](Acc distance) { return std::exp(distance); });
    f(distances, powers, sum_of(powers));
  };
  if constexpr (std::remove_const_t<decltype(x)>::kHeld) {
    const auto max = [](Acc a, Acc b) { return b > a ? b : a; };
    with_top(x.fold(-std::numeric_limits<Acc>::infinity(), max, max),
             [](const auto& powers) { return powers.template sum<Acc>(); });
  } else {
    const auto all = top_and_sum<Acc>(x);
    with_top(all.top, [&](const auto&) { return all.sum; });
  }
}

// Elements T to results R, which are T or float. Operands: out, self.
template <typename T, typename R>
struct Softmax {
  static constexpr int kWidth = kPieceOf<T, R>;

  __device__ void operator()(const Row<2>& row, auto held) const {
    using Acc = Opmath<T>;
    with_powers<T>(row, held, [&](const auto&, const auto& powers, Acc sum) {
      const Acc scale = 1 / sum;
      powers.template write<R>(0, [&](Acc power) { return power * scale; });
    });
  }
};

template <typename T, typename R>
struct LogSoftmax {
  static constexpr int kWidth = kPieceOf<T, R>;

  __device__ void operator()(const Row<2>& row, auto held) const {
    using Acc = Opmath<T>;
    with_powers<T>(row, held, [&](const auto& distances, const auto&, Acc sum) {
      const Acc log_sum = std::log(sum);
      distances.template write<R>(0, [&](Acc distance) { return distance - log_sum; });
    });
  }
};

// Elements of the gradient of the result, and of the result.
template <typename Acc>
struct GradAndResult {
  Acc grad, y;
};
template <typename T>
__device__ auto grad_and_result(const Row<3>& row, auto held) {
  const auto both = [](T grad, T y) { return GradAndResult<Opmath<T>>{opmath(grad), opmath(y)}; };
  return values_of(row, held, both, Operand<T>{1}, Operand<T>{2});
}

// With x' the gradient of the result y, that of the argument is y (x' - sum(y x')), or x' - exp(y) sum(x') for the
// logarithm. Operands: out, grad_output, output.
template <typename T, typename R>
struct SoftmaxBackward {
  static constexpr int kWidth = kPieceOf<T, R>;

  __device__ void operator()(const Row<3>& row, auto held) const {
    using Acc = Opmath<T>;
    using Both = GradAndResult<Acc>;
    const auto both = grad_and_result<T>(row, held);
    const Acc sum = both.map([](const Both& x) { return x.y * x.grad; }).template sum<Acc>();
    both.template write<R>(0, [&](const Both& x) { return x.y * (x.grad - sum); });
  }
};

template <typename T, typename R>
struct LogSoftmaxBackward {
  static constexpr int kWidth = kPieceOf<T, R>;

  __device__ void operator()(const Row<3>& row, auto held) const {
    using Acc = Opmath<T>;
    using Both = GradAndResult<Acc>;
    const auto both = grad_and_result<T>(row, held);
    const Acc sum = both.map([](const Both& x) { return x.grad; }).template sum<Acc>();
    both.template write<R>(0, [&](const Both& x) { return x.grad - std::exp(x.y) * sum; });
  }
};

template <template <typename, typename> typename Op>
void forward(const char* name, const TensorBase& self, std::int64_t dim, const TensorBase& out) {
  if (self.numel() == 0) return;
  const TensorBase from = with_dim(self), to = with_dim(out);
  RowSpace row_space(from.sizes(), wrap_dim(dim, from.dim()));
  row_space.tensor(to).tensor(from);
  visit_floating(self.dtype(), name, [&]<typename T>() {
    if (out.dtype() == self.dtype()) return rows_of_values<2>(row_space, Op<T, T>{}, out.device());
    if constexpr (NarrowFloatType<T>) rows_of_values<2>(row_space, Op<T, float>{}, out.device());
  });
}

template <template <typename, typename> typename Op>
void backward(const char* name, const TensorBase& grad_output, const TensorBase& output, std::int64_t dim,
              const TensorBase& out) {
  if (output.numel() == 0) return;
  const TensorBase grad = with_dim(grad_output), y = with_dim(output), to = with_dim(out);
  RowSpace row_space(y.sizes(), wrap_dim(dim, y.dim()));
  row_space.tensor(to).tensor(grad).tensor(y);
  visit_floating(output.dtype(), name, [&]<typename T>() {
    if (out.dtype() == output.dtype()) return rows_of_values<3>(row_space, Op<T, T>{}, out.device());
    if constexpr (std::is_same_v<T, float>) {
      if (out.dtype() == ScalarType::Half) return rows_of_values<3>(row_space, Op<T, Half>{}, out.device());
      if (out.dtype() == ScalarType::BFloat16) return rows_of_values<3>(row_space, Op<T, BFloat16>{}, out.device());
    }
  });
}

}  // namespace

void _softmax(const TensorBase& self, std::int64_t dim, bool, TensorBase& out) {
  forward<Softmax>("_softmax", self, dim, out);
}

void _log_softmax(const TensorBase& self, std::int64_t dim, bool, TensorBase& out) {
  forward<LogSoftmax>("_log_softmax", self, dim, out);
}

void _softmax_backward_data(const TensorBase& grad_output, const TensorBase& output, std::int64_t dim, ScalarType,
                            TensorBase& out) {
  backward<SoftmaxBackward>("_softmax_backward_data", grad_output, output, dim, out);
}

void _log_softmax_backward_data(const TensorBase& grad_output, const TensorBase& output, std::int64_t dim, ScalarType,
                                TensorBase& out) {
  backward<LogSoftmaxBackward>("_log_softmax_backward_data", grad_output, output, dim, out);
}

}  // namespace keyway::inline v1::cuda
