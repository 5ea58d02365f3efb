// Call: what the function of a mapping gets: the arguments of a call as values of the model, and the means to make
// nodes.
#pragma once

#include <keyway/onnx/export/builder.h>
#include <keyway/onnx/export/source.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::onnx::exporter {

// The results of a call, in order; one that is not there has no name.
struct Vars : std::vector<Var> {
  using std::vector<Var>::vector;
  Vars(Var one) : std::vector<Var>{std::move(one)} {}               // NOLINT
  Vars(std::vector<Var> all) : std::vector<Var>(std::move(all)) {}  // NOLINT
};

// An integer: fixed, or a formula of dimensions.
struct Size {
  std::int64_t number = 0;  // for the sizes of the source, of a formula
  std::string formula = {};
  bool is_fixed() const { return formula.empty(); }
};
using Sizes = std::vector<Size>;

class Call {
 public:
  // `vars`: the values of the model by the numbers of those of the graph.
  Call(const Source& source, std::size_t node, const std::vector<Var>& vars, Builder& builder, int opset,
       std::string_view word);

  std::string_view word() const { return word_; }
  int opset() const { return opset_; }

  // Arguments, by their names in the schema. Those of tensors that are absent have no name.
  bool takes(std::string_view name) const;  // whether the schema has it
  bool has(std::string_view name) const;    // and whether it is not None
  Var tensor(std::string_view name) const;
  std::vector<Var> tensors(std::string_view name) const;
  bool is_tensor(std::string_view name) const;  // whether its type is that of a tensor
  Scalar number(std::string_view name) const;
  ScalarType number_dtype(std::string_view name) const;  // Bool, Long or Double
  double real(std::string_view name) const { return number(name).to<double>(); }
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;
  ScalarType dtype(std::string_view name, ScalarType otherwise) const;
  // Fixed integers. Throw keyway::Error(NotImplemented) for those that follow from dimensions.
  std::int64_t integer(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  Size size(std::string_view name) const;
  Sizes sizes(std::string_view name) const;
  // A dimension of a tensor, counted from the front.
  std::int64_t dim(std::string_view name, std::string_view tensor = "self") const;
  // All of them if the list is empty or absent.
  std::vector<std::int64_t> dims(std::string_view name, std::string_view tensor = "self") const;

  // The integers of each dimension of an image: `count`, also where one stands for all; `otherwise` if there is none.
  std::vector<std::int64_t> spatial(std::string_view name, std::size_t count, std::int64_t otherwise = 1) const;
  std::vector<std::int64_t> pair(std::string_view name) const { return spatial(name, 2); }
  std::vector<std::int64_t> dims_of(std::string_view tensor) const;  // 0, 1 and so on

  // Of a tensor among the arguments: how many dimensions, and the size of one.
  std::int64_t rank(std::string_view name) const;
  Size size_of(std::string_view name, std::int64_t dim) const;
  Var size_var(std::string_view name, std::int64_t dim) const;  // as a tensor of one integer
  // A fixed one. Throws as integer().
  std::int64_t fixed_size_of(std::string_view name, std::int64_t dim) const;
  ScalarType dtype_of(std::string_view name) const;
  // Of a list of tensors: how many dimensions each has, 0 for one that is absent; and a size of one of them.
  std::vector<std::int64_t> ranks(std::string_view name) const;
  std::int64_t fixed_size_of_item(std::string_view name, std::size_t item, std::int64_t dim) const;

  // What the call gives.
  std::size_t results() const { return results_.size(); }
  bool is_used(std::size_t result) const;
  ScalarType result_dtype(std::size_t result = 0) const;
  std::int64_t result_rank(std::size_t result = 0) const;
  Size result_size(std::int64_t dim, std::size_t result = 0) const;
  std::int64_t fixed_result_size(std::int64_t dim, std::size_t result = 0) const;

  // Nodes.
  std::vector<Var> nodes(std::string_view op, const std::vector<Var>& inputs, const std::vector<ScalarType>& dtypes,
                         const Attributes& attributes = {}) const {
    return builder_.add_node(op, inputs, dtypes, attributes);
  }
  // With one result, of the dtype of the first input if none is given.
  Var node(std::string_view op, const std::vector<Var>& inputs, const Attributes& attributes = {}) const {
    return node(op, inputs, inputs.front().dtype, attributes);
  }
  Var node(std::string_view op, const std::vector<Var>& inputs, ScalarType dtype,
           const Attributes& attributes = {}) const {
    return builder_.add_node(op, inputs, {dtype}, attributes).front();
  }
  Var cast(const Var& var, ScalarType dtype) const;
  // A tensor among the arguments, or a number, as a tensor of that dtype.
  Var as(std::string_view name, ScalarType dtype) const;
  Var number(const Scalar& number, ScalarType dtype) const { return builder_.number(number, dtype); }
  Var constant(const Tensor& tensor) const { return builder_.constant(tensor); }
  Var ints(const std::vector<std::int64_t>& integers) const { return builder_.integers(integers); }
  Var floats(const std::vector<double>& numbers) const;  // of float32
  // A tensor of one dimension.
  Var ints(const Sizes& sizes) const;
  Var ints(const Size& size) const { return ints(Sizes{size}); }
  // The sizes of a value, as a tensor.
  Var shape(const Var& var) const { return node("Shape", {var}, kLong); }
  // Taken from a tensor's dimension.
  Var shape(const Var& var, std::int64_t dim) const;
  Var reshape(const Var& var, const Var& sizes) const { return node("Reshape", {var, sizes}, {{"allowzero", true}}); }
  // To sizes of which one may be -1, or unknown.
  Var reshaped(const Var& var, Sizes sizes) const;
  Var squeeze(const Var& var, const std::vector<std::int64_t>& dims) const;
  Var unsqueeze(const Var& var, const std::vector<std::int64_t>& dims) const;
  Var slice(const Var& var, std::int64_t dim, const Var& start, const Var& end) const;
  Var transpose(const Var& var, const std::vector<std::int64_t>& dims) const;

  // Throws keyway::Error(NotImplemented): the operator, its line, and what it is that ONNX does not have.
  [[noreturn]] void refuse(std::string_view what) const;

 private:
  const IValue& argument(std::string_view name) const;
  std::size_t place(std::string_view name) const;
  graph::ValueId value(std::string_view name) const;
  Size size_of_value(graph::ValueId value, std::int64_t dim) const;
  std::int64_t fixed(const Size& size, std::string_view name) const;

  const Source& source_;
  const graph::Node& node_;
  std::size_t number_;
  const std::vector<Var>& vars_;
  Builder& builder_;
  int opset_;
  std::string_view word_;
  std::vector<graph::ValueId> results_;
};

// All dimensions of a tensor in which two are exchanged.
std::vector<std::int64_t> exchanged(std::int64_t rank, std::int64_t a, std::int64_t b);

}  // namespace keyway::inline v1::onnx::exporter
