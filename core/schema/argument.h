// Argument: one argument of an operator, or one of its returns.
#pragma once

#include <keyway/core/schema/default_value.h>
#include <keyway/core/schema/type.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace keyway::inline v1 {

// Cheap to copy; valid while the schema's tables and text live.
class Argument {
 public:
  constexpr Argument(const char* text, const detail::TypeNode* nodes, const detail::ArgumentSlot* slot)
      : text_(text), nodes_(nodes), slot_(slot) {}

  // Empty in an unnamed return.
  constexpr std::string_view name() const { return slot_->name.of(text_); }
  constexpr SchemaType type() const { return {text_, nodes_, slot_->type}; }

  constexpr bool has_default() const { return !slot_->default_text.empty(); }
  constexpr std::optional<DefaultValue> default_value() const {
    if (!has_default()) return std::nullopt;
    return DefaultValue(slot_->default_text.of(text_));
  }
  // Whether one value stands for all N of a `T[N]`: `int[2] padding=0`.
  constexpr bool replicates_default() const {
    const SchemaType list = type().is(TypeKind::Optional) ? type().element() : type();
    if (!has_default() || list.list_size() == 0) return false;
    const DefaultKind kind = default_value()->kind();
    return kind != DefaultKind::List && kind != DefaultKind::None;
  }

  constexpr bool is_kwarg_only() const { return slot_->kwarg_only; }
  constexpr bool is_write() const { return type().is_write(); }
  constexpr bool is_alias() const { return type().is_alias(); }
  // Keyword-only and written to: where the caller wants the result.
  constexpr bool is_out() const { return is_kwarg_only() && is_write(); }

  friend constexpr bool operator==(Argument a, Argument b) {
    return a.name() == b.name() && a.is_kwarg_only() == b.is_kwarg_only() && a.type() == b.type() &&
           a.default_value() == b.default_value();
  }

 private:
  const char* text_;
  const detail::TypeNode* nodes_;
  const detail::ArgumentSlot* slot_;
};

// The arguments of a schema, or its returns: a random-access range of Argument.
class ArgumentList {
 public:
  class iterator {
   public:
    using value_type = Argument;
    using difference_type = std::ptrdiff_t;

    constexpr iterator() = default;
    constexpr iterator(const char* text, const detail::TypeNode* nodes, const detail::ArgumentSlot* slot)
        : text_(text), nodes_(nodes), slot_(slot) {}
    constexpr Argument operator*() const { return {text_, nodes_, slot_}; }
    constexpr iterator& operator++() {
      ++slot_;
      return *this;
    }
    constexpr iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend constexpr bool operator==(const iterator& a, const iterator& b) { return a.slot_ == b.slot_; }

   private:
    const char* text_ = nullptr;
    const detail::TypeNode* nodes_ = nullptr;
    const detail::ArgumentSlot* slot_ = nullptr;
  };

  constexpr ArgumentList(const char* text, const detail::TypeNode* nodes, const detail::ArgumentSlot* slots,
                         std::size_t size)
      : text_(text), nodes_(nodes), slots_(slots), size_(size) {}

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  // Requires: i < size().
  constexpr Argument operator[](std::size_t i) const { return {text_, nodes_, slots_ + i}; }
  constexpr iterator begin() const { return {text_, nodes_, slots_}; }
  constexpr iterator end() const { return {text_, nodes_, slots_ + size_}; }
  // Where the argument of that name stands, if there is one.
  constexpr std::optional<std::size_t> find(std::string_view name) const {
    for (std::size_t i = 0; i < size_; ++i) {
      if ((*this)[i].name() == name) return i;
    }
    return std::nullopt;
  }

  friend constexpr bool operator==(ArgumentList a, ArgumentList b) { return std::ranges::equal(a, b); }

 private:
  const char* text_;
  const detail::TypeNode* nodes_;
  const detail::ArgumentSlot* slots_;
  std::size_t size_;
};

}  // namespace keyway::inline v1
