// Scope: the names that an expression may use, and what they stand for.
#pragma once

#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/expr_type.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// What an expression is for; it decides what it may say.
enum class ExprContext : std::uint8_t {
  Contract,    // `requires`: metadata only, computes a bool
  Data,        // `values`, `domain`: data of tensors, computes a bool
  Derivative,  // computes Tensors
  DType,       // `dtypes`: the name of a tensor stands for its dtype
};

// What a name or call turned out to be.
enum class ExprRole : std::uint8_t {
  Plain,  // literals and operators
  Argument,
  Result,
  Gradient,
  Needs,
  Let,
  Constant,
  Predicate,  // a function of the vocabulary
  Method,     // a method over metadata
  Operator,   // a call f(x) or x.f() of an operator
  Helper,     // a C++ function of autograd/
};

struct Symbol {
  std::string name;
  ExprType type;
  ExprRole role;
};

class Scope {
 public:
  void add(Symbol symbol) { symbols_.push_back(std::move(symbol)); }
  // The last one of that name, or null.
  const Symbol* find(std::string_view name) const {
    const auto found =
        std::find_if(symbols_.rbegin(), symbols_.rend(), [&](const Symbol& s) { return s.name == name; });
    return found == symbols_.rend() ? nullptr : &*found;
  }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  std::vector<std::string> names() const { return texts_of(symbols_, &Symbol::name); }

 private:
  std::vector<Symbol> symbols_;
};

}  // namespace keyway::inline v1
