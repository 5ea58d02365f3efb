#include <keyway/core/base/error.h>
#include <keyway/onnx/import/attribute.h>
#include <keyway/onnx/import/format/message.h>

#include <cstring>

namespace keyway::inline v1::onnx {

namespace {

// Numbers of the fields of AttributeProto, and of the types that field 20 names.
enum class AttributeField : unsigned {
  Name = 1,
  Float = 2,
  Int = 3,
  Text = 4,
  Tensor = 5,
  Graph = 6,
  Floats = 7,
  Ints = 8,
  Texts = 9,
  TypeProto = 14,
  Type = 20,
  RefersTo = 21,
};
enum class AttributeType : std::int64_t {
  None = 0,
  Float = 1,
  Int = 2,
  Text = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Texts = 8,
  TypeProto = 13,
};

// What the fields of an attribute hold.
struct Content {
  float number = 0;
  std::int64_t integer = 0;
  std::string_view text;
  std::string_view tensor;
  std::string_view graph;
  std::string_view type_proto;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> texts;
  AttributeType type = AttributeType::None;
  AttributeType found = AttributeType::None;  // what the last field holds, for files that name no type
};

void add_floats(const Field& field, std::vector<float>& floats) {
  if (field.wire != Field::Wire::Bytes) return floats.push_back(field.single());
  KEYWAY_CHECK_AS(Parse, field.bytes.size() % sizeof(float) == 0, "a list of floats is cut off");
  const std::size_t count = field.bytes.size() / sizeof(float);
  if (count == 0) return;
  floats.resize(floats.size() + count);
  std::memcpy(floats.data() + floats.size() - count, field.bytes.data(), field.bytes.size());
}

void add_ints(const Field& field, std::vector<std::int64_t>& ints) {
  if (field.wire != Field::Wire::Bytes) return ints.push_back(field.integer());
  for (std::string_view rest = field.bytes; !rest.empty();)
    ints.push_back(static_cast<std::int64_t>(take_varint(rest)));
}

void take(const Field& field, Content& content) {
  const auto found = [&](AttributeType type) { content.found = type; };
  switch (AttributeField(field.number)) {
    case AttributeField::Float: content.number = field.single(); return found(AttributeType::Float);
    case AttributeField::Int: content.integer = field.integer(); return found(AttributeType::Int);
    case AttributeField::Text: content.text = field.text(); return found(AttributeType::Text);
    case AttributeField::Tensor: content.tensor = field.content(); return found(AttributeType::Tensor);
    case AttributeField::Graph: content.graph = field.content(); return found(AttributeType::Graph);
    case AttributeField::TypeProto: content.type_proto = field.content(); return found(AttributeType::TypeProto);
    case AttributeField::Floats: add_floats(field, content.floats); return found(AttributeType::Floats);
    case AttributeField::Ints: add_ints(field, content.ints); return found(AttributeType::Ints);
    case AttributeField::Texts: content.texts.emplace_back(field.text()); return found(AttributeType::Texts);
    case AttributeField::Type: content.type = static_cast<AttributeType>(field.integer()); return;
    default: return;
  }
}

Attribute::Content made_of(const Content& content, std::string_view name, const AttributeParts& parts) {
  switch (content.type == AttributeType::None ? content.found : content.type) {
    case AttributeType::Float: return content.number;
    case AttributeType::Int: return content.integer;
    case AttributeType::Text: return std::string(content.text);
    case AttributeType::Tensor: return parts.tensor(content.tensor);
    case AttributeType::Graph: return parts.graph(content.graph);
    case AttributeType::Floats: return content.floats;
    case AttributeType::Ints: return content.ints;
    case AttributeType::Texts: return content.texts;
    case AttributeType::TypeProto: return read_type(content.type_proto);
    case AttributeType::None: break;
  }
  KEYWAY_FAIL(NotImplemented, "attribute '{}' is of the type {}", shown(name), static_cast<std::int64_t>(content.type));
}

}  // namespace

AttributeText read_attribute(std::string_view proto, const AttributeParts& parts) {
  AttributeText read;
  Content content;
  Message message(proto);
  for (Field field; message.next(field);) {
    if (AttributeField(field.number) == AttributeField::Name) {
      read.attribute.name = field.text();
    } else if (AttributeField(field.number) == AttributeField::RefersTo) {
      read.refers_to = field.text();
    } else {
      take(field, content);
    }
  }
  if (read.refers_to.empty()) read.attribute.content = made_of(content, read.attribute.name, parts);
  return read;
}

}  // namespace keyway::inline v1::onnx
