// Call: what the function of an operator gets of the node that runs, and of the values that it takes.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/onnx/import/program/program.h>

#include <optional>

namespace keyway::inline v1::onnx {

class Call {
 public:
  Call(const Node& node, std::vector<Slot>& frame) : node_(node), frame_(frame) {}

  std::string_view op() const { return node_.op->name; }
  int version() const { return node_.version; }

  // How many inputs and outputs the node names, left out ones among them.
  std::size_t inputs() const { return node_.inputs.size(); }
  std::size_t outputs() const { return node_.outputs.size(); }
  bool wants(std::size_t output) const { return output < outputs() && node_.outputs[output] != kNoSlot; }
  bool has(std::size_t input) const { return input < inputs() && node_.inputs[input] != kNoSlot; }

  // Inputs. Throw keyway::Error if there is none, or one of another kind.
  const Slot& slot(std::size_t input) const;
  const Value& value(std::size_t input) const { return slot(input).value; }
  const Tensor& tensor(std::size_t input) const;
  const Strings& strings(std::size_t input) const;
  const Sequence& sequence(std::size_t input) const;
  bool is_strings(std::size_t input) const { return has(input) && std::holds_alternative<Strings>(value(input)); }
  // A tensor, if there is one.
  std::optional<Tensor> tensor_if(std::size_t input) const;
  // All inputs, which are to be tensors.
  std::vector<Tensor> tensors(std::size_t from = 0) const;
  // The elements of an input. Within a capture they have to be known.
  std::vector<std::int64_t> integers(std::size_t input) const;
  std::vector<double> numbers(std::size_t input) const;
  // Of one with a single element.
  std::int64_t integer(std::size_t input) const;
  double number(std::size_t input) const;
  bool truth(std::size_t input) const { return integer(input) != 0; }
  // The input where there is one, else the attribute: what versions of operators moved from one to the other.
  std::vector<std::int64_t> integers_of(std::size_t input, std::string_view attribute) const;
  bool has_either(std::size_t input, std::string_view attribute) const {
    return has(input) || has_attribute(attribute);
  }

  // Attributes. Throw keyway::Error if there is one of another type, or none and no value instead.
  bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t attribute(std::string_view name, std::optional<std::int64_t> otherwise = {}) const;
  double single_attribute(std::string_view name, std::optional<double> otherwise = {}) const;
  std::string text_attribute(std::string_view name, std::optional<std::string_view> otherwise = {}) const;
  std::vector<std::int64_t> list_attribute(std::string_view name) const;  // empty if there is none, as those below
  std::vector<float> singles_attribute(std::string_view name) const;
  std::vector<std::string> texts_attribute(std::string_view name) const;
  const Value& value_attribute(std::string_view name) const;
  const Graph& graph_attribute(std::string_view name) const;
  const Type& type_attribute(std::string_view name) const;

  // An axis that may count from the end, for a tensor of so many dimensions; `dims` itself too if asked for.
  std::int64_t axis(std::int64_t axis, std::int64_t dims, bool may_be_end = false) const;

  // Runs a graph of an attribute, which sees the values around the node.
  std::vector<Slot> run(const Graph& graph, std::vector<Slot> inputs) const;

  template <typename... Args>
  void check(bool holds, std::string_view text, const Args&... args) const {
    if (!holds) [[unlikely]]
      detail::fail_with(ErrorKind::Value, __FILE__, __LINE__, text, args...);
  }
  template <typename... Args>
  [[noreturn]] void refuse(std::string_view text, const Args&... args) const {
    detail::fail_with(ErrorKind::NotImplemented, __FILE__, __LINE__, text, args...);
  }

  // Refuses the capture that the thread is in, if there is one: what was asked for depends on what it made.
  static void refuse_within_capture(std::string_view asked);

 private:
  void check_readable(std::size_t input) const;
  const Attribute* find(std::string_view name) const;
  template <typename T>
  const T* content(std::string_view name, std::string_view type) const;
  [[noreturn]] void fail_missing(std::string_view name) const;

  const Node& node_;
  std::vector<Slot>& frame_;
};

// The elements of a tensor on the CPU or elsewhere, without a call that a capture would record.
std::vector<std::int64_t> integers_in(const Tensor& tensor);
std::vector<double> numbers_in(const Tensor& tensor);

// Tensors of one number, and of several, that a capture takes for known ones.
Tensor known_number(const Scalar& number, ScalarType dtype);
Tensor known_numbers(const std::vector<std::int64_t>& numbers);
Tensor known_numbers(const std::vector<double>& numbers);

// Calls of this thread are not recorded while it exists.
class Unrecorded {
 public:
  Unrecorded() : guard_(DispatchKeySet(Functionality::Functionalize) | DispatchKeySet(Functionality::Tracer)) {}

 private:
  ExcludeDispatchKeyGuard guard_;
};

}  // namespace keyway::inline v1::onnx
