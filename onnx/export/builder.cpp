#include <keyway/core/base/error.h>
#include <keyway/core/schema/lexer.h>
#include <keyway/onnx/export/builder.h>
#include <keyway/onnx/import/format/element_type.h>
#include <keyway/ops/copy.h>
#include <keyway/ops/creation.h>

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace keyway::inline v1::onnx::exporter {

namespace {

// Numbers of fields, by message.
namespace model_field {
constexpr unsigned kIrVersion = 1, kProducer = 2, kGraph = 7, kOpset = 8, kVersionOfOpset = 2;
}
namespace graph_field {
constexpr unsigned kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}
namespace node_field {
constexpr unsigned kInput = 1, kOutput = 2, kName = 3, kOperator = 4, kAttribute = 5, kDoc = 6;
}
namespace attribute_field {
constexpr unsigned kName = 1, kFloat = 2, kInt = 3, kText = 4, kInts = 8, kTexts = 9, kType = 20;
}
namespace attribute_type {
constexpr std::int64_t kFloat = 1, kInt = 2, kText = 3, kInts = 7, kTexts = 8;
}
namespace tensor_field {
constexpr unsigned kDims = 1, kDtype = 2, kName = 8, kRaw = 9;
}
namespace value_field {
constexpr unsigned kName = 1, kType = 2, kTensor = 1, kDtype = 1, kShape = 2, kDim = 1, kSize = 1, kSizeName = 2;
}

std::string value_info(std::string_view name, ScalarType dtype, const std::vector<Dim>& dims) {
  ProtoMessage shape;
  for (const Dim& dim : dims) {
    ProtoMessage size;
    if (dim.size >= 0)
      size.integer(value_field::kSize, dim.size, true);
    else
      size.text(value_field::kSizeName, dim.name);
    shape.message(value_field::kDim, size);
  }
  ProtoMessage tensor;
  tensor.integer(value_field::kDtype, element_type_of(dtype)).message(value_field::kShape, shape);
  return ProtoMessage()
      .text(value_field::kName, name)
      .message(value_field::kType, ProtoMessage().message(value_field::kTensor, tensor))
      .str();
}

ProtoMessage with_name(std::string_view name) {
  ProtoMessage message;
  message.text(attribute_field::kName, name);
  return message;
}

}  // namespace

Attribute::Attribute(std::string_view name, std::int64_t value) : message_(with_name(name)) {
  message_.integer(attribute_field::kInt, value, true).integer(attribute_field::kType, attribute_type::kInt);
}
Attribute::Attribute(std::string_view name, double value) : message_(with_name(name)) {
  message_.single(attribute_field::kFloat, static_cast<float>(value));
  message_.integer(attribute_field::kType, attribute_type::kFloat);
}
Attribute::Attribute(std::string_view name, std::string_view value) : message_(with_name(name)) {
  message_.text(attribute_field::kText, value, true).integer(attribute_field::kType, attribute_type::kText);
}
Attribute::Attribute(std::string_view name, const std::vector<std::int64_t>& values) : message_(with_name(name)) {
  for (const std::int64_t value : values) message_.integer(attribute_field::kInts, value, true);
  message_.integer(attribute_field::kType, attribute_type::kInts);
}
Attribute::Attribute(std::string_view name, const std::vector<std::string>& values) : message_(with_name(name)) {
  for (const std::string& value : values) message_.text(attribute_field::kTexts, value, true);
  message_.integer(attribute_field::kType, attribute_type::kTexts);
}

ProtoMessage tensor_header(std::string_view name, const Tensor& tensor) {
  ProtoMessage message;
  for (const std::int64_t size : tensor.sizes()) message.integer(tensor_field::kDims, size, true);
  message.integer(tensor_field::kDtype, element_type_of(tensor.dtype())).text(tensor_field::kName, name);
  return message;
}

std::string elements_of(const Tensor& tensor) {
  const NoGradGuard no_grad;
  const Tensor whole = tensor.contiguous();
  std::string bytes(static_cast<std::size_t>(whole.numel()) * element_size(whole.dtype()), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), whole.const_data_ptr(), bytes.size());
  return bytes;
}

std::string Builder::new_name(std::string_view wanted) {
  std::string name(wanted);
  for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

void Builder::add_input(std::string_view name, ScalarType dtype, const std::vector<Dim>& dims) {
  inputs_.push_back(value_info(name, dtype, dims));
}
void Builder::add_output(std::string_view name, ScalarType dtype, const std::vector<Dim>& dims) {
  outputs_.push_back(value_info(name, dtype, dims));
}

void Builder::write_node(std::string_view op, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const Attributes& attributes) {
  ProtoMessage node;
  std::size_t given = inputs.size();
  while (given > 0 && inputs[given - 1].empty()) --given;
  for (std::size_t i = 0; i < given; ++i) node.text(node_field::kInput, inputs[i], true);
  for (const std::string& output : outputs) node.text(node_field::kOutput, output, true);
  node.text(node_field::kName, outputs.front()).text(node_field::kOperator, op);
  for (const Attribute& attribute : attributes) node.message(node_field::kAttribute, attribute.message());
  node.text(node_field::kDoc, site_);
  nodes_.push_back(std::move(node).take());
}

std::vector<Var> Builder::add_node(std::string_view op, const std::vector<Var>& inputs,
                                   const std::vector<ScalarType>& dtypes, const Attributes& attributes) {
  std::vector<std::string> names, given;
  std::vector<Var> outputs;
  for (const Var& input : inputs) given.push_back(input.name);
  for (const ScalarType dtype : dtypes) {
    names.push_back(dtype == ScalarType::Undefined ? "" : new_name(op));
    outputs.push_back({names.back(), dtype});
  }
  write_node(op, given, names, attributes);
  return outputs;
}

void Builder::add_identity(const Var& from, const std::string& name) {
  write_node("Identity", {from.name}, {name}, {});
}

Var Builder::constant(const Tensor& tensor) {
  const std::string key = fmt::format("{}{}:", to_string(tensor.dtype()), fmt::join(tensor.sizes(), ","));
  const auto [found, is_new] = constants_.try_emplace(key + elements_of(tensor));
  if (is_new) {
    found->second = {new_name("constant"), tensor.dtype()};
    numbers_.emplace_back(found->second.name, tensor);
  }
  return found->second;
}
Var Builder::number(const Scalar& number, ScalarType dtype) { return constant(full({}, number, dtype)); }
Var Builder::integers(const std::vector<std::int64_t>& integers) {
  Tensor tensor = empty({static_cast<std::int64_t>(integers.size())}, kLong);
  if (!integers.empty())
    std::memcpy(tensor.mutable_data_ptr(), integers.data(), integers.size() * sizeof(std::int64_t));
  return constant(tensor);
}

std::string Builder::model(int opset, const std::string& graph_name,
                           const std::map<std::string, ProtoMessage>& external) const {
  constexpr std::int64_t kIrVersions[] = {8, 9, 9, 10, 10, 11};  // that came with the opsets from 18 on
  ProtoMessage graph;
  for (const std::string& node : nodes_) graph.text(graph_field::kNode, node, true);
  graph.text(graph_field::kName, graph_name);
  for (const auto* tensors : {&state_, &numbers_}) {
    for (const auto& [name, tensor] : *tensors) {
      const auto outside = external.find(name);
      graph.message(graph_field::kInitializer,
                    outside != external.end()
                        ? outside->second
                        : tensor_header(name, tensor).text(tensor_field::kRaw, elements_of(tensor)));
    }
  }
  for (const std::string& input : inputs_) graph.text(graph_field::kInput, input, true);
  for (const std::string& output : outputs_) graph.text(graph_field::kOutput, output, true);
  ProtoMessage version;
  version.integer(model_field::kVersionOfOpset, opset);
  ProtoMessage model;
  model.integer(model_field::kIrVersion, kIrVersions[opset - 18]).text(model_field::kProducer, "keyway");
  model.message(model_field::kGraph, graph).message(model_field::kOpset, version);
  return std::move(model).take();
}

}  // namespace keyway::inline v1::onnx::exporter
