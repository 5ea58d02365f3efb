// Builder: the parts of an ONNX model as they are made: nodes, constants, inputs and outputs.
#pragma once

#include <keyway/core/base/proto_message.h>
#include <keyway/graph/formula.h>
#include <keyway/tensor.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::inline v1::onnx::exporter {

// A value of the model.
struct Var {
  std::string name = {};  // empty: an input of a node that is left out
  ScalarType dtype = ScalarType::Undefined;
};

// An attribute of a node.
class Attribute {
 public:
  Attribute(std::string_view name, std::int64_t value);
  Attribute(std::string_view name, int value) : Attribute(name, std::int64_t{value}) {}
  Attribute(std::string_view name, bool value) : Attribute(name, std::int64_t{value ? 1 : 0}) {}
  Attribute(std::string_view name, double value);
  Attribute(std::string_view name, std::string_view value);
  Attribute(std::string_view name, const char* value) : Attribute(name, std::string_view(value)) {}
  Attribute(std::string_view name, const std::vector<std::int64_t>& values);
  Attribute(std::string_view name, const std::vector<std::string>& values);

  const ProtoMessage& message() const { return message_; }

 private:
  ProtoMessage message_;
};
using Attributes = std::vector<Attribute>;

// A size that has a name, or none.
struct Dim {
  std::int64_t size = -1;  // -1: not fixed
  std::string name = {};   // of one that is not; may be empty
};

class Builder {
 public:
  // A name that no other value has: the one that is asked for, if it is free.
  std::string new_name(std::string_view wanted);
  void add_input(std::string_view name, ScalarType dtype, const std::vector<Dim>& dims);
  void add_output(std::string_view name, ScalarType dtype, const std::vector<Dim>& dims);
  void add_state(std::string_view name, const Tensor& tensor) { state_.emplace_back(name, tensor); }

  // Where the nodes that follow come from: "model.py:12".
  void set_site(std::string site) { site_ = std::move(site); }
  std::vector<Var> add_node(std::string_view op, const std::vector<Var>& inputs, const std::vector<ScalarType>& dtypes,
                            const Attributes& attributes);
  // A node that gives a value the name of an output.
  void add_identity(const Var& from, const std::string& name);

  // Tensors of fixed numbers, each once.
  Var constant(const Tensor& tensor);
  Var number(const Scalar& number, ScalarType dtype);
  Var integers(const std::vector<std::int64_t>& integers);

  // The sizes of an input, as formulas of dimensions, which are had from it.
  void add_dimensions(const std::string& input, const std::vector<std::string>& sizes);
  // A formula of dimensions as a tensor of one integer.
  Var formula(const std::string& text);

  const std::vector<std::pair<std::string, Tensor>>& state() const { return state_; }
  // The whole; `external` has the places of state that is not in the model, as TensorProtos without elements.
  std::string model(int opset, const std::string& graph_name,
                    const std::map<std::string, ProtoMessage>& external) const;

 private:
  // Where the size of a dimension is had from: it is that for which a size of an input has the formula's value.
  struct Source {
    std::string input;
    std::int64_t axis;
    std::string formula;
  };
  Var dimension(const std::string& name);
  void write_node(std::string_view op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                  const Attributes& attributes);

  std::set<std::string, std::less<>> names_;
  std::map<std::string, Var> constants_, formulas_;  // by what they are
  std::map<std::string, Source> dimensions_;
  std::vector<std::pair<std::string, Tensor>> state_, numbers_;
  std::vector<std::string> nodes_, inputs_, outputs_;
  std::string site_;
};

// The names in a formula, each once.
std::vector<std::string> names_in(std::string_view formula);

// A TensorProto as far as its name.
ProtoMessage tensor_header(std::string_view name, const Tensor& tensor);
// The elements of a tensor in order.
std::string elements_of(const Tensor& tensor);

}  // namespace keyway::inline v1::onnx::exporter
