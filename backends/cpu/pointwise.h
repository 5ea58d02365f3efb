// pointwise: the driver of every operator that computes each element of its result from the elements at the
// same index in its inputs.
//
//   pointwise(Add<float>{argument(alpha)}, out, self, other);
//
// A functor costs one loop per instruction-set level, over contiguous memory, which the compiler makes vector
// code of; everything about shapes, broadcasting, strides and threads is compiled once, in pointwise.cpp.
// Operands that do not lie contiguously come to that loop in blocks packed into buffers of a few kilobytes,
// which stay in the first-level cache.
//
// The element types are those of the functor's operator(); operands of other dtypes are converted to them, or from
// them, in the same buffers (tile_cast.h), which is how 16-bit floats share the loops of float32. The elements that a
// functor only moves may be of any dtype of their size. Inputs broadcast to the sizes of `out`. An input may be `out`
// itself or lie exactly on it, as in-place operators have it; other overlap must be excluded. What an element becomes
// does not depend on where it lies, on the number of threads or on the shape.
// Requires: inputs broadcast to out's sizes; no two elements of out share memory.
// Throws keyway::Error(Value) with F::kElementError, before anything is written, if the functor does not accept an
// element.
#pragma once

#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/loop_dtype.h>
#include <keyway/backends/cpu/simd/level.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/element_error.h>
#include <keyway/ops/functors/signature.h>

namespace keyway::inline v1 {

namespace detail {

// All that the driver needs to know of a functor and its types.
struct PointwiseOp {
  LevelTable<Loop> loop;
  LevelTable<Loop> check;  // null if the functor accepts all; operands are the inputs alone
  const char* element_error;
  std::int16_t inputs;
  std::int16_t itemsize[4];  // of out, then the inputs
  ScalarType element[4];     // of them
};

// inputs[0] is out.
KEYWAY_API void run_pointwise(const PointwiseOp& op, const void* functor, const TensorBase* const* operands);

template <typename F, typename R, typename Arguments>
inline constexpr PointwiseOp kPointwiseOp = {};
template <typename F, typename R, typename... A>
inline constexpr PointwiseOp kPointwiseOp<F, R, std::tuple<A...>> = {
    kLoops<F>,
    kChecks<F>,
    kElementErrorOf<F>,
    sizeof...(A),
    {sizeof(R), sizeof(A)...},
    {cpp_type_to_scalar_type<R>, cpp_type_to_scalar_type<A>...}};

}  // namespace detail

template <typename F, std::same_as<TensorBase>... In>
void pointwise(const F& functor, const TensorBase& out, const In&... inputs) {
  using Signature = FunctorSignature<F>;
  static_assert(sizeof...(In) == Signature::kArity, "as many inputs as the functor takes");
  const TensorBase* const operands[] = {&out, &inputs...};
  const detail::PointwiseOp& op = detail::kPointwiseOp<F, typename Signature::Result, typename Signature::Arguments>;
  if constexpr (MovesElements<F>) {
    detail::PointwiseOp moving = op;
    const bool same_size = op.itemsize[0] == static_cast<std::int16_t>(out.itemsize());
    for (ScalarType& element : moving.element) {
      if (same_size && element == op.element[0]) element = out.dtype();
    }
    detail::run_pointwise(moving, &functor, operands);
  } else {
    detail::run_pointwise(op, &functor, operands);
  }
}

}  // namespace keyway::inline v1
