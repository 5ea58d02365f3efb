// ExprError: what is wrong with an expression, and at which byte of it.
#pragma once

#include <keyway/core/base/error.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace keyway::inline v1 {

// Thrown by the lexer, the parser and the type checker; the first mistake of an expression ends its reading.
// Whoever knows where the text stands in its file turns the offset into line and column.
class ExprError : public std::runtime_error {
 public:
  ExprError(std::size_t offset, const std::string& text) : std::runtime_error(text), offset_(offset) {}
  // A text in which each {} stands for the next value.
  template <typename... Values>
  ExprError(std::size_t offset, std::string_view text, const Values&... values) requires(sizeof...(Values) > 0)
      : ExprError(offset, format(text, {FormatArg(values)...})) {}
  std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

}  // namespace keyway::inline v1
