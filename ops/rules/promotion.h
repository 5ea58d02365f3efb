// Promotion: the dtype that operands of different dtypes meet in, as PyTorch 2.x has it.
//
// Operands count in three ranks: tensors with dimensions, tensors without, numbers. A lower rank changes the
// result only if its category (bool, integral, floating, complex) is higher than that of all before it; a complex
// one makes a floating result complex, and keeps its precision.
#pragma once

#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/dtype/promote_types.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/tensor/tensor_base.h>

#include <optional>

namespace keyway::inline v1 {

class Promotion {
 public:
  // Undefined tensors and absent numbers do not count.
  Promotion& operator<<(const TensorBase& tensor) {
    if (tensor.defined()) add(tensor.dim() > 0 ? with_dims_ : without_dims_, tensor.dtype());
    return *this;
  }
  Promotion& operator<<(ArrayRef<TensorBase> tensors) {
    for (const TensorBase& tensor : tensors) *this << tensor;
    return *this;
  }
  Promotion& operator<<(const Scalar& number) {
    ScalarType type = number.type();
    if (type == ScalarType::UInt64) type = ScalarType::Long;  // integral, whatever its value
    if (type == ScalarType::Double) type = get_default_dtype();
    if (type == ScalarType::ComplexDouble) type = get_default_complex_dtype();
    add(numbers_, type);
    return *this;
  }
  Promotion& operator<<(const std::optional<Scalar>& number) {
    if (number) *this << *number;
    return *this;
  }

  // Throws keyway::Error if two dtypes have none in common (the 8-bit floats).
  ScalarType result() const {
    if (without_dims_ == ScalarType::Undefined && numbers_ == ScalarType::Undefined) [[likely]]
      return with_dims_;
    return combine(combine(with_dims_, without_dims_), numbers_);
  }

 private:
  static constexpr int category(ScalarType t) {
    return t == ScalarType::Undefined ? -1 : is_bool(t) ? 0 : is_complex(t) ? 3 : is_integral(t, false) ? 1 : 2;
  }
  static ScalarType promote(ScalarType a, ScalarType b) {
    const ScalarType common = promote_types(a, b);
    KEYWAY_CHECK_AS(Type, common != ScalarType::Undefined, "dtypes {} and {} do not promote to a common one", a, b);
    return common;
  }
  static void add(ScalarType& rank, ScalarType dtype) {
    if (rank == dtype) return;
    rank = rank == ScalarType::Undefined ? dtype : promote(rank, dtype);
  }
  static ScalarType combine(ScalarType higher, ScalarType lower) {
    if (category(higher) >= category(lower)) return higher;
    if (is_complex(lower) && is_floating_point(higher)) return promote(higher, to_complex(higher));
    return higher == ScalarType::Undefined ? lower : promote(higher, lower);
  }

  ScalarType with_dims_ = ScalarType::Undefined;
  ScalarType without_dims_ = ScalarType::Undefined;
  ScalarType numbers_ = ScalarType::Undefined;
};

// What integers are added up in.
inline ScalarType integers_to_int64(ScalarType t) { return is_integral(t, true) ? ScalarType::Long : t; }
// What integers become where the result is floating: sqrt, true division.
inline ScalarType to_float(ScalarType t) { return is_integral(t, true) ? get_default_dtype() : t; }

}  // namespace keyway::inline v1
