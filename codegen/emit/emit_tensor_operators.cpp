// C++ operators on tensors, in terms of methods: those whose methods exist.
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/public_api.h>

#include <fmt/format.h>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {
namespace {

// What an operator has on its right.
constexpr std::string_view kOperands[] = {"const Tensor&", "const Scalar&"};

constexpr std::pair<std::string_view, std::string_view> kUnary[] = {{"-", "neg"}, {"~", "bitwise_not"}};

struct BinaryOperator {
  std::string_view symbol;
  std::string_view method;  // of the tensor on the left
  // Of the tensor on the right of a number, which it takes; or it takes nothing, and `then` of its result the number.
  std::string_view reversed = {};
  std::string_view then = {};
  std::size_t assigned = 0;  // how many of kOperands the assignment takes, by the method with an underscore
};
constexpr BinaryOperator kBinary[] = {
    {"+", "add", "add", "", 2},
    {"-", "sub", "neg", "add", 2},
    {"*", "mul", "mul", "", 2},
    {"/", "div", "reciprocal", "mul", 2},
    {"%", "remainder"},
    {"&", "bitwise_and", "", "", 1},
    {"|", "bitwise_or", "", "", 1},
    {"^", "bitwise_xor", "", "", 1},
    {"==", "eq", "eq"},
    {"!=", "ne", "ne"},
    {"<", "lt", "gt"},
    {"<=", "le", "ge"},
    {">", "gt", "lt"},
    {">=", "ge", "le"},
};

// "add(const Tensor&": a method, and what its call in an operator passes.
std::string key_of(std::string_view method, std::string_view parameter) {
  return fmt::format("{}({}", method, parameter);
}

// Methods that can be called with one operand, or with none.
std::set<std::string> callable_methods(const std::vector<Family>& families) {
  std::set<std::string> keys;
  for (const Family& family : families) {
    for (const PublicFunction& method : public_methods(family)) {
      const auto& parameters = method.parameters;
      const auto required = [&](std::size_t i) { return i < parameters.size() && parameters[i].default_value.empty(); };
      if (required(1)) continue;
      if (!required(0)) keys.insert(key_of(method.name, ""));
      if (!parameters.empty()) keys.insert(key_of(method.name, parameters[0].type));
    }
  }
  return keys;
}

}  // namespace

std::string emit_tensor_operators(const std::vector<Family>& families) {
  const std::set<std::string> callable = callable_methods(families);
  std::string operators;
  // A line, if there is the method that its body gives an operand of that type, or nothing.
  const auto define = [&](std::string_view method, std::string_view operand, std::string_view head,
                          std::string_view body) {
    if (callable.contains(key_of(method, operand)))
      operators += fmt::format("inline {} {{ return {}; }}\n", head, body);
  };
  for (const auto& [symbol, method] : kUnary)
    define(method, "", fmt::format("Tensor operator{}(const Tensor& a)", symbol), fmt::format("a.{}()", method));
  for (const BinaryOperator& op : kBinary) {
    for (const std::string_view operand : kOperands)
      define(op.method, operand, fmt::format("Tensor operator{}(const Tensor& a, {} b)", op.symbol, operand),
             fmt::format("a.{}(b)", op.method));
    const bool takes_number = op.then.empty();
    define(op.reversed, takes_number ? kOperands[1] : "",
           fmt::format("Tensor operator{}(const Scalar& a, const Tensor& b)", op.symbol),
           fmt::format(fmt::runtime(takes_number ? "b.{}(a)" : "b.{}().{}(a)"), op.reversed, op.then));
    for (const std::string_view operand : std::span(kOperands).first(op.assigned))
      define(fmt::format("{}_", op.method), operand,
             fmt::format("Tensor& operator{}=(Tensor& a, {} b)", op.symbol, operand),
             fmt::format("a.{}_(b)", op.method));
  }
  if (operators.empty()) return {};
  return header_text(
      file_banner(families) + "// Operators of C++ on tensors, in terms of methods. Included by tensor.h.\n",
      {"keyway/tensor.h"}, families.front(), "", "\n" + operators);
}

}  // namespace keyway::inline v1
