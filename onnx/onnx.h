// ONNX models. A model is a program that makes Keyway's calls, node by node: it runs with gradients, under autocast and
// in a capture as any program does.
//
//   const std::shared_ptr<const onnx::Model> model = onnx::load("model.onnx");
//   const std::vector<onnx::Value> outputs = model->run({{"x", x}});
//
// What reads models lies in a library of its own, libkeyway_onnx.so beside libkeyway.so, which is opened by the first
// of these calls.
#pragma once

#include <keyway/tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace keyway::inline v1::onnx {

// A tensor of texts, in rows.
struct Strings {
  std::vector<std::int64_t> sizes;
  std::vector<std::string> elements;
};

struct Value;
using Sequence = std::vector<Value>;

// What an input, an output or a value between nodes may be; std::monostate is an optional without a value. A number
// stands for an input that is a tensor without dimensions: a capture takes it for a constant of the program.
struct Value : std::variant<std::monostate, Tensor, Strings, Sequence, Scalar> {
  using variant::variant;
  bool has_value() const { return index() != 0; }
};

// Immutable: threads may run one model at the same time.
class KEYWAY_API Model {
 public:
  struct Argument {
    std::string name;
    std::string type;  // "float32[batch, 3, 224, 224]", "sequence of int64[?]", "string[2]", "optional of ..."
  };
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model();

  // Those that run() needs, in the order of the file; then those for which the file has values.
  virtual const std::vector<Argument>& inputs() const = 0;
  virtual std::size_t required_inputs() const = 0;
  virtual const std::vector<Argument>& outputs() const = 0;
  // The outputs, in their order. An output may share memory with an input. Throws keyway::Error: an input that is
  // missing, unknown or of another type than the model says, and what a node refuses, which the error names.
  virtual std::vector<Value> run(const std::map<std::string, Value>& inputs) const = 0;
};

// A model of a file, and of its bytes. External data may lie in files of the model's folder or below it. Throw
// keyway::Error: Parse for what is no model, NotImplemented for operators, versions and types that Keyway does not
// have.
KEYWAY_API std::shared_ptr<const Model> load(const std::string& path);
KEYWAY_API std::shared_ptr<const Model> load_bytes(std::string_view bytes);

// An operator of ONNX, from the version of its domain on that changed it last.
struct OperatorInfo {
  std::string domain;  // empty: ai.onnx
  std::string name;
  int since;
};
// What Keyway has.
KEYWAY_API std::vector<OperatorInfo> operators();

}  // namespace keyway::inline v1::onnx
