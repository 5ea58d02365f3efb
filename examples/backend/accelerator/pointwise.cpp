// Operators that compute each element from those at the same index. What is computed is a functor of Keyway's, so that
// integers wrap, NaN spreads and 16-bit floats round as on the CPU.
#include <keyway/ops/functors/activation.h>
#include <keyway/ops/functors/binary.h>
#include <keyway/ops/functors/operand.h>
#include <keyway/ops/functors/pointwise.h>
#include <keyway/ops/functors/unary.h>

#include <accelerator/kernels.h>

namespace accelerator {

using namespace keyway;

namespace {

template <template <typename> class F, DtypeSet set>
void unary(const TensorBase& self, TensorBase& out) {
  visit<set>(self.dtype(), [&]<typename T>() { pointwise(F<T>{}, out, self); });
}

template <template <typename> class F, DtypeSet set>
void binary(const TensorBase& self, const TensorBase& other, TensorBase& out) {
  visit<set>(self.dtype(), [&]<typename T>() { pointwise(F<T>{}, out, self, other); });
}

// With a number as the second operand.
template <template <typename> class F, DtypeSet set>
void with_number(const TensorBase& self, const Scalar& other, TensorBase& out) {
  visit<set>(self.dtype(), [&]<typename T>() { pointwise(F<T>{operand<T>(other)}, out, self); });
}

template <template <typename> class F>
void scaled(const TensorBase& self, const TensorBase& other, const Scalar& alpha, TensorBase& out) {
  visit<kNumbers>(self.dtype(), [&]<typename T>() { pointwise(F<T>{argument<T>(alpha)}, out, self, other); });
}

template <template <typename> class F>
void scaled_number(const TensorBase& self, const Scalar& other, const Scalar& alpha, TensorBase& out) {
  visit<kNumbers>(self.dtype(), [&]<typename T>() {
    pointwise(F<T>{operand<T>(other), argument<T>(alpha)}, out, self);
  });
}

void gelu(const TensorBase& self, std::string_view approximate, TensorBase& out) {
  visit<kFloats>(self.dtype(), [&]<typename T>() { pointwise(Gelu<T>{approximate}, out, self); });
}

void gelu_backward(const TensorBase& grad, const TensorBase& self, std::string_view approximate, TensorBase& out) {
  visit<kFloats>(self.dtype(), [&]<typename T>() { pointwise(GeluBackward<T>{approximate}, out, grad, self); });
}

void clamp(const TensorBase& self, std::optional<Scalar> min, std::optional<Scalar> max, TensorBase& out) {
  visit<kNumbers>(self.dtype(), [&]<typename T>() {
    pointwise(Clamp<T>{argument<T>(min), argument<T>(max)}, out, self);
  });
}

void where(const TensorBase& condition, const TensorBase& self, const TensorBase& other, TensorBase& out) {
  visit<kAll>(self.dtype(), [&]<typename T>() { pointwise(Where<T>{}, out, condition, self, other); });
}

void masked_fill(const TensorBase& self, const TensorBase& mask, const Scalar& value, TensorBase& out) {
  visit<kAll>(self.dtype(), [&]<typename T>() { pointwise(MaskedFill<T>{argument<T>(value)}, out, self, mask); });
}

}  // namespace

void register_pointwise(Library& m) {
  serve(m, "add.Tensor", scaled<Add>);
  serve(m, "add.Scalar", scaled_number<AddScalar>);
  serve(m, "sub.Tensor", scaled<Sub>);
  serve(m, "sub.Scalar", scaled_number<SubScalar>);
  serve(m, "mul.Tensor", binary<Mul, kNumbers>);
  serve(m, "mul.Scalar", with_number<MulScalar, kNumbers>);
  serve(m, "div.Tensor", binary<Div, kFloats>);
  serve(m, "div.Scalar", with_number<DivScalar, kFloats>);
  serve(m, "maximum", binary<Maximum, kNumbers>);
  serve(m, "minimum", binary<Minimum, kNumbers>);
  serve(m, "eq.Tensor", binary<Eq, kAll>);
  serve(m, "eq.Scalar", with_number<EqScalar, kAll>);
  serve(m, "ne.Tensor", binary<Ne, kAll>);
  serve(m, "lt.Tensor", binary<Lt, kAll>);
  serve(m, "gt.Tensor", binary<Gt, kAll>);
  serve(m, "neg", unary<Neg, kNumbers>);
  serve(m, "exp", unary<Exp, kFloats>);
  serve(m, "log", unary<Log, kFloats>);
  serve(m, "sqrt", unary<Sqrt, kFloats>);
  serve(m, "reciprocal", unary<Reciprocal, kFloats>);
  serve(m, "tanh", unary<Tanh, kFloats>);
  serve(m, "relu", unary<Relu, kNumbers>);
  serve(m, "logical_not", unary<LogicalNot, kAll>);
  serve(m, "gelu", gelu);
  serve(m, "gelu_backward", gelu_backward);
  serve(m, "clamp", clamp);
  serve(m, "where.self", where);
  serve(m, "masked_fill.Scalar", masked_fill);
}

}  // namespace accelerator
