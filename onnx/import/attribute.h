// Attributes of nodes, as files have them.
#pragma once

#include <keyway/onnx/import/program/program.h>

#include <functional>
#include <string_view>

namespace keyway::inline v1::onnx {

// What makes values of tensors and graphs of the bytes that an attribute has.
struct AttributeParts {
  std::function<Value(std::string_view proto)> tensor;
  std::function<std::shared_ptr<const Graph>(std::string_view proto)> graph;
};

struct AttributeText {
  Attribute attribute;
  std::string_view refers_to;  // within a function: the attribute of the call that it is; else empty
};

// Of the bytes of an AttributeProto. Throws keyway::Error(Parse) for what is none, NotImplemented for lists of tensors,
// graphs and types.
AttributeText read_attribute(std::string_view proto, const AttributeParts& parts);

}  // namespace keyway::inline v1::onnx
