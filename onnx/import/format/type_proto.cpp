#include <keyway/core/base/error.h>
#include <keyway/onnx/import/format/element_type.h>
#include <keyway/onnx/import/format/message.h>
#include <keyway/onnx/import/format/type_proto.h>

#include <algorithm>

namespace keyway::inline v1::onnx {

namespace {

constexpr int kMostNestedTypes = 16;

Type::Dim read_dim(std::string_view proto) {
  Type::Dim dim;
  Message message(proto);
  for (Field field; message.next(field);) {
    if (field.number == 1 && field.integer() > 0) dim.size = field.integer();  // writers have 0 and -1 for "any"
    if (field.number == 2) dim.name = shown(field.text());
  }
  return dim;
}

void read_sizes(std::string_view proto, Type& type) {
  type.has_sizes = true;
  Message message(proto);
  for (Field field; message.next(field);) {
    if (field.number != 1) continue;
    KEYWAY_CHECK_AS(Parse, type.sizes.size() < 64, "a type has more than 64 dimensions");
    type.sizes.push_back(read_dim(field.content()));
  }
}

Type read_tensor_type(std::string_view proto) {
  Type type;
  type.kind = Type::Kind::Numbers;
  std::int64_t element = 0;
  Message message(proto);
  for (Field field; message.next(field);) {
    if (field.number == 1) element = field.integer();
    if (field.number == 2) read_sizes(field.content(), type);
  }
  if (element == kStringType) {
    type.kind = Type::Kind::Texts;
  } else {
    type.dtype = dtype_of_element_type(element);
  }
  return type;
}

Type read_nested(std::string_view proto, int depth);

Type read_containing(std::string_view proto, Type::Kind kind, int depth) {
  Type type;
  type.kind = kind;
  Message message(proto);
  for (Field field; message.next(field);) {
    if (field.number == 1) type.of = {read_nested(field.content(), depth + 1)};
  }
  if (type.of.empty()) type.of = {Type()};
  return type;
}

Type read_nested(std::string_view proto, int depth) {
  KEYWAY_CHECK_AS(Parse, depth < kMostNestedTypes, "a type is nested more than {} deep", kMostNestedTypes);
  Type type;
  Message message(proto);
  for (Field field; message.next(field);) {
    switch (field.number) {
      case 1: type = read_tensor_type(field.content()); break;
      case 4: type = read_containing(field.content(), Type::Kind::List, depth); break;
      case 9: type = read_containing(field.content(), Type::Kind::Maybe, depth); break;
      case 5: KEYWAY_FAIL(NotImplemented, "there are no values of the type map");
      case 7: KEYWAY_FAIL(NotImplemented, "there are no values of the type opaque");
      case 8: KEYWAY_FAIL(NotImplemented, "there are no values of the type sparse_tensor");
      default: break;
    }
  }
  return type;
}

bool have_sizes(const Type& type, IntArrayRef sizes) {
  if (!type.has_sizes) return true;
  if (type.sizes.size() != sizes.size()) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (type.sizes[i].size >= 0 && type.sizes[i].size != sizes[i]) return false;
  }
  return true;
}

std::string with_sizes(std::string text, const Type& type) {
  if (!type.has_sizes) return text + "[...]";
  text += '[';
  for (const Type::Dim& dim : type.sizes) {
    if (&dim != &type.sizes.front()) text += ", ";
    text += dim.size >= 0 ? std::to_string(dim.size) : dim.name.empty() ? "?" : dim.name;
  }
  return text + ']';
}

std::string with_sizes(std::string text, IntArrayRef sizes) {
  return text + format("{}", ArrayRef<FormatArg>({FormatArg(sizes)}));
}

}  // namespace

Type read_type(std::string_view proto) { return read_nested(proto, 0); }

bool Type::accepts(const Value& value) const {
  switch (kind) {
    case Kind::Any: return true;
    case Kind::Numbers: {
      if (std::holds_alternative<Scalar>(value)) return have_sizes(*this, {});
      const auto* const tensor = std::get_if<Tensor>(&value);
      return tensor != nullptr && tensor->defined() && tensor->dtype() == dtype && have_sizes(*this, tensor->sizes());
    }
    case Kind::Texts: {
      const auto* const strings = std::get_if<Strings>(&value);
      return strings != nullptr && have_sizes(*this, strings->sizes);
    }
    case Kind::List: {
      const auto* const sequence = std::get_if<Sequence>(&value);
      return sequence != nullptr &&
             std::ranges::all_of(*sequence, [&](const Value& element) { return of[0].accepts(element); });
    }
    case Kind::Maybe: return !value.has_value() || of[0].accepts(value);
  }
  return false;
}

std::string to_string(const Type& type) {
  switch (type.kind) {
    case Type::Kind::Any: return "any";
    case Type::Kind::Numbers: return with_sizes(std::string(to_string(type.dtype)), type);
    case Type::Kind::Texts: return with_sizes("string", type);
    case Type::Kind::List: return "sequence of " + to_string(type.of[0]);
    case Type::Kind::Maybe: return "optional of " + to_string(type.of[0]);
  }
  return {};
}

std::string describe(const Value& value) {
  if (const auto* const tensor = std::get_if<Tensor>(&value)) {
    if (!tensor->defined()) return "an undefined tensor";
    return with_sizes(std::string(to_string(tensor->dtype())), tensor->sizes());
  }
  if (const auto* const strings = std::get_if<Strings>(&value)) return with_sizes("string", strings->sizes);
  if (const auto* const sequence = std::get_if<Sequence>(&value)) {
    return sequence->empty() ? "an empty sequence"
                             : "a sequence of " + std::to_string(sequence->size()) + ", the first of which is " +
                                   describe(sequence->front());
  }
  return std::holds_alternative<Scalar>(value) ? "a number" : "nothing";
}

}  // namespace keyway::inline v1::onnx
