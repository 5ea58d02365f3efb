// C++ operators on tensors, in terms of methods: those whose methods exist.
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/public_api.h>

#include <fmt/format.h>
#include <set>
#include <string_view>

namespace keyway::inline v1 {
namespace {

// {0} is the operator, {1} the method; a and b its operands. One line each.
struct OperatorForm {
  std::string_view needs;  // parameter of the method: a type, or empty for none
  std::string_view signature;
  std::string_view body;
};
constexpr OperatorForm kUnary = {"", "Tensor operator{0}(const Tensor& a)", "a.{1}()"};
constexpr OperatorForm kTensors = {"const Tensor&", "Tensor operator{0}(const Tensor& a, const Tensor& b)", "a.{1}(b)"};
constexpr OperatorForm kRightNumber = {"const Scalar&", "Tensor operator{0}(const Tensor& a, const Scalar& b)",
                                       "a.{1}(b)"};
constexpr std::string_view kLeftNumber = "Tensor operator{0}(const Scalar& a, const Tensor& b)";
constexpr std::string_view kAssignTensor = "Tensor& operator{0}=(Tensor& a, const Tensor& b)";
constexpr std::string_view kAssignNumber = "Tensor& operator{0}=(Tensor& a, const Scalar& b)";

struct CppOperator {
  std::string_view symbol;
  std::string_view method;
  OperatorForm form;
};

constexpr CppOperator kOperators[] = {
    {"-", "neg", kUnary},
    {"~", "bitwise_not", kUnary},
    {"+", "add", kTensors},
    {"+", "add", kRightNumber},
    {"+", "add", {"const Scalar&", kLeftNumber, "b.{1}(a)"}},
    {"+", "add_", {"const Tensor&", kAssignTensor, "a.{1}(b)"}},
    {"+", "add_", {"const Scalar&", kAssignNumber, "a.{1}(b)"}},
    {"-", "sub", kTensors},
    {"-", "sub", kRightNumber},
    {"-", "neg", {"", kLeftNumber, "b.{1}().add(a)"}},
    {"-", "sub_", {"const Tensor&", kAssignTensor, "a.{1}(b)"}},
    {"-", "sub_", {"const Scalar&", kAssignNumber, "a.{1}(b)"}},
    {"*", "mul", kTensors},
    {"*", "mul", kRightNumber},
    {"*", "mul", {"const Scalar&", kLeftNumber, "b.{1}(a)"}},
    {"*", "mul_", {"const Tensor&", kAssignTensor, "a.{1}(b)"}},
    {"*", "mul_", {"const Scalar&", kAssignNumber, "a.{1}(b)"}},
    {"/", "div", kTensors},
    {"/", "div", kRightNumber},
    {"/", "reciprocal", {"", kLeftNumber, "b.{1}().mul(a)"}},
    {"/", "div_", {"const Tensor&", kAssignTensor, "a.{1}(b)"}},
    {"/", "div_", {"const Scalar&", kAssignNumber, "a.{1}(b)"}},
    {"%", "remainder", kTensors},
    {"%", "remainder", kRightNumber},
    {"&", "bitwise_and", kTensors},
    {"&", "bitwise_and", kRightNumber},
    {"&", "bitwise_and_", {"const Tensor&", kAssignTensor, "a.{1}(b)"}},
    {"|", "bitwise_or", kTensors},
    {"|", "bitwise_or", kRightNumber},
    {"|", "bitwise_or_", {"const Tensor&", kAssignTensor, "a.{1}(b)"}},
    {"^", "bitwise_xor", kTensors},
    {"^", "bitwise_xor", kRightNumber},
    {"^", "bitwise_xor_", {"const Tensor&", kAssignTensor, "a.{1}(b)"}},
    {"==", "eq", kTensors},
    {"==", "eq", kRightNumber},
    {"==", "eq", {"const Scalar&", kLeftNumber, "b.{1}(a)"}},
    {"!=", "ne", kTensors},
    {"!=", "ne", kRightNumber},
    {"!=", "ne", {"const Scalar&", kLeftNumber, "b.{1}(a)"}},
    {"<", "lt", kTensors},
    {"<", "lt", kRightNumber},
    {"<", "gt", {"const Scalar&", kLeftNumber, "b.{1}(a)"}},
    {"<=", "le", kTensors},
    {"<=", "le", kRightNumber},
    {"<=", "ge", {"const Scalar&", kLeftNumber, "b.{1}(a)"}},
    {">", "gt", kTensors},
    {">", "gt", kRightNumber},
    {">", "lt", {"const Scalar&", kLeftNumber, "b.{1}(a)"}},
    {">=", "ge", kTensors},
    {">=", "ge", kRightNumber},
    {">=", "le", {"const Scalar&", kLeftNumber, "b.{1}(a)"}},
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
  for (const CppOperator& op : kOperators) {
    if (!callable.contains(key_of(op.method, op.form.needs))) continue;
    operators += "inline " + fmt::format(fmt::runtime(op.form.signature), op.symbol) + " { return " +
                 fmt::format(fmt::runtime(op.form.body), "", op.method) + "; }\n";
  }
  if (operators.empty()) return {};
  return file_banner(families) +
         "// Operators of C++ on tensors, in terms of methods. Included by tensor.h.\n#pragma once\n\n" +
         includes({"keyway/tensor.h"}) + "\nnamespace keyway::inline v1 {\n\n" + operators +
         "\n}  // namespace keyway::inline v1\n";
}

}  // namespace keyway::inline v1
