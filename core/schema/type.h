// SchemaType: a type of the schema language, such as `Tensor(a!)`, `int[2]?` or `Dict(str, t)`.
#pragma once

#include <keyway/core/schema/alias.h>
#include <keyway/core/schema/packed_schema.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace keyway::inline v1 {

// Cheap to copy; valid while the schema's tables and text live.
class SchemaType {
 public:
  class Parts;

  constexpr SchemaType(const char* text, const detail::TypeNode* nodes, std::uint8_t index)
      : text_(text), nodes_(nodes), index_(index) {}

  constexpr TypeKind kind() const { return node().kind; }
  constexpr bool is(TypeKind kind) const { return node().kind == kind; }

  // The name as spelled, of a type that is written as one name: `Tensor`, `t`,
  // `__torch__.torch.classes.ns.C`.
  constexpr std::string_view name() const { return is(TypeKind::List) ? "" : node().name.of(text_); }
  // Of a registered class, what follows `__torch__.torch.classes.`: `ns.C`; the whole name of any other.
  constexpr std::string_view class_name() const {
    constexpr std::string_view kPrefix = "__torch__.torch.classes.";
    return name().substr(name().starts_with(kPrefix) ? kPrefix.size() : 0);
  }
  // The N of `T[N]`, as a number and as spelled; 0 and empty for `T[]` and for what is no list.
  constexpr std::size_t list_size() const;
  constexpr std::string_view list_size_text() const { return is(TypeKind::List) ? node().name.of(text_) : ""; }
  // What the type is made of: one part of a list, optional, future; all of a tuple or union; key and value.
  constexpr Parts parts() const;
  // Requires: the type is made of others. The first of its parts.
  constexpr SchemaType element() const { return {text_, nodes_, node().child}; }

  // The annotation of this type itself: in `Tensor(a!)[]` the element carries it, not the list.
  constexpr AliasInfo alias() const { return node().has_alias ? AliasInfo(node().alias.of(text_)) : AliasInfo(); }
  // Whether this type or one inside it is written to, or annotated at all.
  constexpr bool is_write() const;
  constexpr bool is_alias() const;

  friend constexpr bool operator==(SchemaType a, SchemaType b);

 private:
  friend class Parts;
  constexpr const detail::TypeNode& node() const { return nodes_[index_]; }

  const char* text_;
  const detail::TypeNode* nodes_;
  std::uint8_t index_;
};

class SchemaType::Parts {
 public:
  class iterator {
   public:
    using value_type = SchemaType;
    using difference_type = std::ptrdiff_t;

    constexpr iterator() = default;
    constexpr iterator(const char* text, const detail::TypeNode* nodes, std::uint8_t index)
        : text_(text), nodes_(nodes), index_(index) {}
    constexpr SchemaType operator*() const { return {text_, nodes_, index_}; }
    constexpr iterator& operator++() {
      index_ = nodes_[index_].next;
      return *this;
    }
    constexpr iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend constexpr bool operator==(const iterator& a, const iterator& b) { return a.index_ == b.index_; }

   private:
    const char* text_ = nullptr;
    const detail::TypeNode* nodes_ = nullptr;
    std::uint8_t index_ = detail::kNoNode;
  };

  constexpr explicit Parts(SchemaType type) : type_(type) {}
  constexpr iterator begin() const { return {type_.text_, type_.nodes_, type_.node().child}; }
  constexpr iterator end() const { return {type_.text_, type_.nodes_, detail::kNoNode}; }
  constexpr bool empty() const { return begin() == end(); }
  constexpr std::size_t size() const { return static_cast<std::size_t>(std::ranges::distance(begin(), end())); }

 private:
  SchemaType type_;
};

constexpr SchemaType::Parts SchemaType::parts() const { return Parts(*this); }

constexpr std::size_t SchemaType::list_size() const {
  std::size_t size = 0;
  for (const char digit : list_size_text()) size = size * 10 + static_cast<std::size_t>(digit - '0');
  return size;
}

constexpr bool SchemaType::is_write() const {
  return alias().is_write() || std::ranges::any_of(parts(), [](SchemaType part) { return part.is_write(); });
}

constexpr bool SchemaType::is_alias() const {
  return alias() || std::ranges::any_of(parts(), [](SchemaType part) { return part.is_alias(); });
}

constexpr bool operator==(SchemaType a, SchemaType b) {
  return a.kind() == b.kind() && a.name() == b.name() && a.list_size() == b.list_size() && a.alias() == b.alias() &&
         std::ranges::equal(a.parts(), b.parts());
}

}  // namespace keyway::inline v1
