// OptionalIntArrayRef: the type of a public `int[]?` argument: a list that somebody else owns, one number, or
// nothing.
#pragma once

#include <keyway/core/base/array_ref.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace keyway::inline v1 {

// As short-lived as ArrayRef: made for the time of one call.
class OptionalIntArrayRef {
 public:
  constexpr OptionalIntArrayRef() = default;
  constexpr OptionalIntArrayRef(std::nullopt_t) {}                                     // NOLINT
  constexpr OptionalIntArrayRef(IntArrayRef list) : kind_(Kind::List), list_(list) {}  // NOLINT
  constexpr OptionalIntArrayRef(std::optional<IntArrayRef> list)                       // NOLINT
      : kind_(list ? Kind::List : Kind::Absent), list_(list.value_or(IntArrayRef())) {}
  constexpr OptionalIntArrayRef(std::initializer_list<std::int64_t> list)
      : OptionalIntArrayRef(IntArrayRef(list.begin(), list.size())) {}
  template <detail::ContainerOf<std::int64_t> C>
  requires(!std::same_as<C, IntArrayRef>) constexpr OptionalIntArrayRef(const C& list)
      : OptionalIntArrayRef(IntArrayRef(list)) {}  // NOLINT
  // Of a list that somebody else keeps, or none.
  template <detail::ContainerOf<std::int64_t> C>
  requires(!std::same_as<C, IntArrayRef>) constexpr OptionalIntArrayRef(const std::optional<C>& list)  // NOLINT
      : kind_(list ? Kind::List : Kind::Absent), list_(list ? IntArrayRef(*list) : IntArrayRef()) {}
  // sum(x, 1) is sum(x, {1}): the number is kept here.
  template <std::integral I>
  requires(!std::same_as<I, bool>) constexpr OptionalIntArrayRef(I one) : kind_(Kind::One), one_(one) {}  // NOLINT

  constexpr bool has_value() const { return kind_ != Kind::Absent; }
  // Requires: has_value(). Valid while this lives.
  constexpr IntArrayRef operator*() const { return kind_ == Kind::One ? IntArrayRef(&one_, 1) : list_; }
  constexpr operator std::optional<IntArrayRef>() const {
    return has_value() ? std::optional<IntArrayRef>(**this) : std::nullopt;
  }

 private:
  enum class Kind : std::uint8_t { Absent, List, One };
  Kind kind_ = Kind::Absent;
  std::int64_t one_ = 0;
  IntArrayRef list_;
};

}  // namespace keyway::inline v1
