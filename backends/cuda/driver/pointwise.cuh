// pointwise: the driver of every operator that computes each element of its result from the elements at the same index
// in its inputs. It is spelled as the CPU's is, over the same functors (backends/cpu/pointwise.h).
//
//   pointwise(Add<float>{argument(alpha)}, out, self, other);
//
// A functor costs two kernels: one over vectors of 16 bytes of the widest operand, where each operand is contiguous or
// one element along the innermost dimension, and one over single elements for all else. Both go through a space of few
// dimensions by 32-bit arithmetic (launch_space.h). An element that the functor does not accept is noted, and an error
// of the next synchronisation (device_asserts.h); the result at its index is then of no use, all others stand.
// Requires: as there, and all operands lie on one device.
#pragma once

#include <keyway/backends/cuda/driver/element.cuh>
#include <keyway/backends/cuda/driver/kernel_address.h>
#include <keyway/backends/cuda/driver/pointwise.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/forms.h>
#include <keyway/ops/functors/signature.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace keyway::inline v1::cuda {

namespace detail {

template <typename T, int width>
__device__ Vector<T, width> load_vector(const char* at, bool scalar) {
  if (!scalar) return *reinterpret_cast<const Vector<T, width>*>(at);
  const auto one = *reinterpret_cast<const Stored<T>*>(at);
  Vector<T, width> all;
  for (int j = 0; j < width; ++j) all.of[j] = one;
  return all;
}

// Some elements of an operand. Those that do not exist have no value.
template <typename T, int operand, int M, int N>
__device__ Some<T, M> load_some(char* const* data, const std::int64_t (&offset)[M][N], const bool (&exists)[M]) {
  Some<T, M> all;
#pragma unroll
  for (int m = 0; m < M; ++m) {
    if (exists[m]) all.of[m] = load<T>(data[operand] + offset[m][operand]);
  }
  return all;
}

// The elements of a thread, kThreads apart.
template <int N>
__device__ void locate_elements(const LaunchSpace& space, std::int64_t (&offset)[kElementsPerThread][N],
                                bool (&exists)[kElementsPerThread]) {
  const std::uint32_t first = blockIdx.x * (kThreads * kElementsPerThread) + threadIdx.x;
  std::uint32_t i[kElementsPerThread];
#pragma unroll
  for (unsigned j = 0; j < kElementsPerThread; ++j) {
    i[j] = first + j * kThreads;
    exists[j] = i[j] < space.numel;
  }
  space.locate(i, offset);
}

template <typename F, typename... A>
__device__ auto apply(const F& functor, const DeviceAssertTarget& note, A... x) {
  if constexpr (requires { F::kElementError; }) {
    if (!functor.accepts(x...)) *note.slot = note.what;
  }
  return functor(x...);
}

template <typename F, typename R, typename Arguments>
struct PointwiseOf;
template <typename F, typename R, typename... A>
struct PointwiseOf<F, R, std::tuple<A...>> {
  static constexpr int N = 1 + sizeof...(A);
  static constexpr int kWidth = 16 / static_cast<int>(std::max({sizeof(R), sizeof(A)...}));

  // Elements at `offset` from the operands' data. All are read before one is computed, so that a thread waits once.
  template <int M, std::size_t... k>
  __device__ static void elements(const F& functor, const DeviceAssertTarget& note, char* const* data,
                                  const std::int64_t (&offset)[M][N], const bool (&exists)[M],
                                  std::index_sequence<k...>) {
    const auto run = [&](const auto&... input) {
#pragma unroll
      for (int m = 0; m < M; ++m) {
        if (exists[m]) store<R>(data[0] + offset[m][0], apply(functor, note, input.of[m]...));
      }
    };
    run(load_some<A, k + 1>(data, offset, exists)...);
  }

  template <std::size_t... k>
  __device__ static void vector(const F& functor, const DeviceAssertTarget& note, char* const (&at)[N],
                                const bool* scalar, std::index_sequence<k...>) {
    const auto run = [&](const auto&... input) {
      Vector<R, kWidth> out;
#pragma unroll
      for (int j = 0; j < kWidth; ++j) out.of[j] = apply(functor, note, static_cast<A>(input.of[j])...);
      *reinterpret_cast<Vector<R, kWidth>*>(at[0]) = out;
    };
    run(load_vector<A, kWidth>(at[k + 1], scalar[k + 1])...);
  }
};

template <typename F, typename R, typename Arguments>
__global__ void __launch_bounds__(kThreads)
    map_vectors(const __grid_constant__ F functor, const __grid_constant__ VectorSpace space,
                const __grid_constant__ DeviceAssertTarget note) {
  using Of = PointwiseOf<F, R, Arguments>;
  constexpr int N = Of::N;
  const std::uint32_t v = blockIdx.x * kThreads + threadIdx.x;
  if (v >= space.vectors) return;
  const VectorSpace::Position position = space.position(v, Of::kWidth);
  char* at[N];
  space.rows.find(position.row, at);
  for (int k = 0; k < N; ++k) at[k] += std::int64_t{position.column} * space.step[k];
  constexpr auto kInputs = std::make_index_sequence<N - 1>();
  if (position.column + Of::kWidth <= space.columns) return Of::vector(functor, note, at, space.scalar, kInputs);
  constexpr bool kExists[1] = {true};
  std::int64_t offset[1][N] = {};
  for (std::uint32_t i = position.column; i < space.columns; ++i) {
    Of::elements(functor, note, at, offset, kExists, kInputs);
    for (int k = 0; k < N; ++k) offset[0][k] += space.step[k];
  }
}

template <typename F, typename R, typename Arguments>
__global__ void __launch_bounds__(kThreads)
    map_elements(const __grid_constant__ F functor, const __grid_constant__ LaunchSpace space,
                 const __grid_constant__ DeviceAssertTarget note) {
  using Of = PointwiseOf<F, R, Arguments>;
  constexpr int N = Of::N;
  std::int64_t offset[kElementsPerThread][N];
  bool exists[kElementsPerThread];
  locate_elements(space, offset, exists);
  Of::elements(functor, note, space.data, offset, exists, std::make_index_sequence<N - 1>());
}

template <typename F, typename R, typename Arguments>
struct KernelsOf;
template <typename F, typename R, typename... A>
struct KernelsOf<F, R, std::tuple<A...>> {
  static PointwiseKernels get() {
    using Arguments = std::tuple<A...>;
    return {kernel_address(&map_vectors<F, R, Arguments>),
            kernel_address(&map_elements<F, R, Arguments>),
            kElementErrorOf<F>,
            PointwiseOf<F, R, Arguments>::kWidth,
            1 + sizeof...(A),
            {sizeof(R), sizeof(A)...}};
  }
};

}  // namespace detail

template <typename F, std::same_as<TensorBase>... In>
void pointwise(const F& functor, const TensorBase& out, const In&... inputs) {
  if constexpr (HasForms<F>) {
    functor.choose([&](const auto& form) { pointwise(form, out, inputs...); });
  } else {
    using Signature = FunctorSignature<F>;
    static_assert(sizeof...(In) == Signature::kArity, "as many inputs as the functor takes");
    const TensorBase* const operands[] = {&out, &inputs...};
    launch_pointwise(detail::KernelsOf<F, typename Signature::Result, typename Signature::Arguments>::get(), &functor,
                     operands);
  }
}

// As the CPU's (backends/cpu/loop_dtype.h); here a loop converts in registers, so that each dtype has its own.
template <template <typename...> typename F, DtypeSet set, typename Visitor>
constexpr decltype(auto) visit_loop_dtype(ScalarType dtype, std::string_view what, Visitor&& f) {
  using First = cpp_type_t<set.first()>;
  if constexpr (requires { f.template operator()<First, First>(); }) {
    return visit_dtype<set>(dtype, what, [&]<typename T>() -> decltype(auto) { return f.template operator()<T, T>(); });
  } else {
    return visit_dtype<set>(dtype, what, f);
  }
}

}  // namespace keyway::inline v1::cuda
