// TensorIndex: one item between the brackets of Python's x[...], in C++.
//
//   x.index({0, Slice(1, None), Ellipsis, mask});   // x[0, 1:, ..., mask]
//   x.index_put_({None, Slice()}, 1.0);             // x[None, :] = 1.0
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace keyway::inline v1::indexing {

// A new dimension of size 1; in a Slice, an end that is left open.
inline constexpr std::nullopt_t None = std::nullopt;  // NOLINT(readability-identifier-naming): PyTorch's name

// All dimensions that no other item names.
struct EllipsisIndexType final {};
inline constexpr EllipsisIndexType Ellipsis{};  // NOLINT(readability-identifier-naming): PyTorch's name

// start:stop:step of one dimension. Ends that are negative count from the dimension's end, those outside of it are
// moved to it. Errors (Value): a step below 1.
class Slice final {
 public:
  KEYWAY_API explicit Slice(std::optional<std::int64_t> start = std::nullopt,
                            std::optional<std::int64_t> stop = std::nullopt,
                            std::optional<std::int64_t> step = std::nullopt);

  std::int64_t start() const { return start_; }
  std::int64_t stop() const { return stop_; }
  std::int64_t step() const { return step_; }
  // Whether it is all of the dimension, whatever its size.
  bool is_whole() const { return start_ == 0 && stop_ == std::numeric_limits<std::int64_t>::max() && step_ == 1; }

 private:
  std::int64_t start_, stop_, step_;
};

class TensorIndex final {
 public:
  enum class Kind : std::uint8_t { NewAxis, Dots, Integer, Boolean, Slice, Tensor };

  TensorIndex(std::nullopt_t) : kind_(Kind::NewAxis) {}  // NOLINT
  TensorIndex(EllipsisIndexType) : kind_(Kind::Dots) {}  // NOLINT
  // "...", as Ellipsis. Errors (Value): another text.
  KEYWAY_API TensorIndex(const char* ellipsis);  // NOLINT
  template <std::integral T>
  TensorIndex(T value)  // NOLINT
      : kind_(std::same_as<T, bool> ? Kind::Boolean : Kind::Integer), slice_(static_cast<std::int64_t>(value)) {}
  TensorIndex(indexing::Slice slice) : kind_(Kind::Slice), slice_(slice) {}  // NOLINT
  // Integers, or a mask.
  TensorIndex(keyway::Tensor tensor) : kind_(Kind::Tensor), tensor_(std::move(tensor)) {}  // NOLINT

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::NewAxis; }
  bool is_ellipsis() const { return kind_ == Kind::Dots; }
  bool is_integer() const { return kind_ == Kind::Integer; }
  bool is_boolean() const { return kind_ == Kind::Boolean; }
  bool is_slice() const { return kind_ == Kind::Slice; }
  bool is_tensor() const { return kind_ == Kind::Tensor; }
  // Requires: an item of that kind.
  std::int64_t integer() const { return slice_.start(); }
  bool boolean() const { return slice_.start() != 0; }
  const indexing::Slice& slice() const { return slice_; }
  const keyway::Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  indexing::Slice slice_;  // its start is the integer, or the truth
  keyway::Tensor tensor_;
};

}  // namespace keyway::inline v1::indexing
