// FunctionSchema: what an operator is called, takes and returns, as PyTorch's schema language says it:
//
//   aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
//
// One parser serves compile time, run time and the code generator. How to get a schema:
//   schema_literal<"add(Tensor a) -> Tensor">   (literal.h)  checked by the compiler; constant, lives forever
//   OwnedSchema(text)                           (owned.h)    at run time; owns its text; throws keyway::Error
//   parse_schema(text)                          (parser.h)   what both call; never throws
#pragma once

#include <keyway/core/schema/argument.h>
#include <keyway/core/schema/packed_schema.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace keyway::inline v1 {

// A view, as std::string_view is one: cheap to copy, valid while the tables and the text it was made from
// live. So are the Argument, SchemaType, AliasInfo and DefaultValue that it gives.
class FunctionSchema {
 public:
  template <std::size_t Slots, std::size_t Nodes>
  constexpr FunctionSchema(std::string_view text, const detail::SchemaTables<Slots, Nodes>& tables)
      : FunctionSchema(text, &tables.header, tables.slots, tables.nodes) {}
  constexpr FunctionSchema(std::string_view text, const detail::SchemaHeader* header, const detail::ArgumentSlot* slots,
                           const detail::TypeNode* nodes)
      : text_(text), header_(header), slots_(slots), nodes_(nodes) {}

  // The text it was parsed from, as it was spelled; to_string (printer.h) gives the canonical one.
  constexpr std::string_view text() const { return text_; }

  // `aten`, or empty.
  constexpr std::string_view namespace_name() const { return header_->ns.of(text_.data()); }
  // `add_`: without namespace and overload.
  constexpr std::string_view name() const { return header_->name.of(text_.data()); }
  // `Tensor`, or empty.
  constexpr std::string_view overload_name() const { return header_->overload.of(text_.data()); }
  // `aten::add_.Tensor`.
  constexpr std::string_view full_name() const {
    const std::size_t first = namespace_name().empty() ? header_->name.begin : header_->ns.begin;
    const detail::TextSpan last = header_->overload.empty() ? header_->name : header_->overload;
    return text_.substr(first, last.begin + std::size_t{last.size} - first);
  }

  constexpr ArgumentList arguments() const { return {text_.data(), nodes_, slots_, header_->arguments}; }
  constexpr ArgumentList returns() const {
    return {text_.data(), nodes_, slots_ + header_->arguments, header_->returns};
  }
  // How many of the arguments stand before the `*`.
  constexpr std::size_t positional_count() const { return header_->positional; }
  // Whether the arguments, or the returns, end in `...`.
  constexpr bool is_vararg() const { return header_->vararg; }
  constexpr bool is_varret() const { return header_->varret; }

  // Whether it writes to an argument.
  constexpr bool is_mutable() const {
    return std::ranges::any_of(arguments(), [](Argument argument) { return argument.is_write(); });
  }
  // Whether a return may share memory with an argument or with another value: it carries an annotation.
  constexpr bool is_alias() const {
    return std::ranges::any_of(returns(), [](Argument result) { return result.is_alias(); });
  }
  // `add_(Tensor(a!) self, ...)`: a name that ends in `_`, and the first argument is written to.
  constexpr bool is_inplace() const {
    const bool dunder = name().size() > 4 && name().ends_with("__");
    return (dunder ? name().starts_with("__i") : name().ends_with('_')) && !arguments().empty() &&
           arguments()[0].is_write();
  }
  // Whether it has arguments for its results: keyword-only and written to.
  constexpr bool is_out() const { return out_count() > 0; }
  constexpr std::size_t out_count() const {
    std::size_t count = 0;
    for (const Argument argument : arguments()) count += argument.is_out() ? 1 : 0;
    return count;
  }

  // The same operator: equal up to white space.
  friend constexpr bool operator==(FunctionSchema a, FunctionSchema b) {
    return a.full_name() == b.full_name() && a.positional_count() == b.positional_count() &&
           a.is_vararg() == b.is_vararg() && a.is_varret() == b.is_varret() && a.arguments() == b.arguments() &&
           a.returns() == b.returns();
  }

 private:
  std::string_view text_;
  const detail::SchemaHeader* header_;
  const detail::ArgumentSlot* slots_;
  const detail::TypeNode* nodes_;
};

}  // namespace keyway::inline v1
