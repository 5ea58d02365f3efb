// tensor(): a tensor of numbers that are written out, or of those of a vector.
//
//   tensor(3.5)                       no dimensions
//   tensor({{1, 2}, {3, 4}})          int64[2, 2]
//   tensor(std::vector<float>{...})   one dimension
//
// As in PyTorch integers of 32 and 64 bits become int64, float and double the default dtype, unless `options` has a
// dtype; others stay what they are.
#pragma once

#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/adapters.h>
#include <keyway/ops/copy.h>
#include <keyway/ops/creation.h>
#include <keyway/ops/unrecorded.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace keyway::inline v1 {

namespace detail {

// The dtype of a tensor of numbers that are written as `written`.
inline ScalarType literal_dtype(ScalarType written) {
  if (written == kInt || written == kLong) return kLong;
  return written == kFloat || written == kDouble ? get_default_dtype() : written;
}

}  // namespace detail

// A number, or a list of these in braces.
class TensorLiteral {
 public:
  template <NumberElement T>
  TensorLiteral(T number) : dtype_(cpp_type_to_scalar_type<T>), numbers_{number} {}  // NOLINT
  // `long` and `long long` are one type of elements.
  template <std::integral T>
  requires(!NumberElement<T>) TensorLiteral(T number) : TensorLiteral(static_cast<std::int64_t>(number)) {}
  // Throws keyway::Error unless all have one shape and one dtype.
  TensorLiteral(std::initializer_list<TensorLiteral> rows) : dtype_(get_default_dtype()) {
    if (rows.size() != 0) {
      dtype_ = rows.begin()->dtype_;
      sizes_ = rows.begin()->sizes_;
    }
    for (const TensorLiteral& row : rows) {
      KEYWAY_CHECK(IntArrayRef(row.sizes_) == IntArrayRef(sizes_), "tensor: rows of shapes {} and {} in one list",
                   IntArrayRef(sizes_), IntArrayRef(row.sizes_));
      KEYWAY_CHECK(row.dtype_ == dtype_, "tensor: numbers of types {} and {} in one list", dtype_, row.dtype_);
      numbers_.insert(numbers_.end(), row.numbers_.begin(), row.numbers_.end());
    }
    sizes_.insert(sizes_.begin(), static_cast<std::int64_t>(rows.size()));
  }

  Tensor make(TensorOptions options) const {
    return detail::with_grad(detail::made_of_numbers([&] { return write(options); }), options);
  }

 private:
  Tensor write(TensorOptions options) const {
    const ScalarType dtype = options.has_dtype() ? options.dtype() : detail::literal_dtype(dtype_);
    const Tensor made = empty(sizes_, TensorOptions().dtype(dtype));
    visit_all(dtype, "tensor", [&]<typename T>() {
      if constexpr (NumberElement<T>) {
        std::ranges::transform(numbers_, static_cast<T*>(made.impl()->data()),
                               [](const Scalar& number) { return number.to<T>(); });
      } else {
        KEYWAY_FAIL(Type, "tensor: numbers cannot be written as {}", dtype);
      }
    });
    return made.to(options.device());
  }

  ScalarType dtype_;
  std::vector<std::int64_t> sizes_;
  std::vector<Scalar> numbers_;
};

inline Tensor tensor(const TensorLiteral& literal, TensorOptions options = {}) { return literal.make(options); }

template <ElementType T>
Tensor tensor(ArrayRef<T> numbers, TensorOptions options = {}) {
  const ScalarType dtype = options.has_dtype() ? options.dtype() : detail::literal_dtype(cpp_type_to_scalar_type<T>);
  const auto written = [&] {
    const Tensor made = empty({static_cast<std::int64_t>(numbers.size())}, cpp_type_to_scalar_type<T>);
    std::copy(numbers.begin(), numbers.end(), static_cast<T*>(made.impl()->data()));
    return made.to(TensorOptions().dtype(dtype).device(options.device()));
  };
  return detail::with_grad(detail::made_of_numbers(written), options);
}
template <ElementType T>
requires(!std::same_as<T, bool>) Tensor tensor(const std::vector<T>& numbers, TensorOptions options = {}) {
  return tensor(ArrayRef<T>(numbers), options);
}

}  // namespace keyway::inline v1
