#include <keyway/core/base/error.h>
#include <keyway/core/schema/named_values.h>
#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/string_default.h>
#include <keyway/dispatch/call/default_argument.h>

#include <charconv>
#include <limits>

namespace keyway::inline v1 {

namespace {

// Of an integer too. The parser has made sure that it is not too large; one too small is zero.
double double_of(std::string_view text) {
  const double sign = text.starts_with('-') ? -1 : 1;
  if (text.ends_with("inf")) return sign * std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc::result_out_of_range ? sign * 0.0 : number;
}

Device device_of(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto type = find_device_type(std::string_view(text).substr(0, colon));
  KEYWAY_CHECK(type, "the default device '{}' is of a type that is not known: load or register its backend first",
               text);
  return Device(*type,
                colon == text.size() ? std::int8_t{-1} : static_cast<std::int8_t>(std::stoi(text.substr(colon + 1))));
}

std::int64_t number_of(TypeKind type, DefaultValue from) {
  return from.kind() == DefaultKind::Identifier ? find_named_value(type, from.text())->number : *from.as_int();
}

complex<double> complex_of(DefaultValue from) {
  if (from.kind() != DefaultKind::Complex) return {double_of(from.text()), 0};
  return {0, double_of(from.text().substr(0, from.text().size() - 1))};
}

Scalar scalar_of(DefaultValue from) {
  switch (from.kind()) {
    case DefaultKind::Bool: return Scalar(*from.as_bool());
    case DefaultKind::Int: return Scalar(*from.as_int());
    case DefaultKind::Complex: return Scalar(complex_of(from));
    default: return Scalar(double_of(from.text()));
  }
}

IValue value_of(SchemaType type, DefaultValue from);

IValue one_value(TypeKind type, DefaultValue from) {
  switch (type) {
    case TypeKind::Int:
    case TypeKind::SymInt: return IValue(number_of(type, from));
    case TypeKind::Float:
    case TypeKind::SymFloat: return IValue(double_of(from.text()));
    case TypeKind::Bool:
    case TypeKind::SymBool: return IValue(*from.as_bool());
    case TypeKind::Complex: return IValue(complex_of(from));
    case TypeKind::Scalar: return IValue(scalar_of(from));
    case TypeKind::Str: return IValue(string_of_default(*from.as_string()));
    case TypeKind::ScalarType: return IValue(static_cast<ScalarType>(number_of(type, from)));
    case TypeKind::Layout: return IValue(static_cast<Layout>(number_of(type, from)));
    case TypeKind::MemoryFormat: return IValue(static_cast<MemoryFormat>(number_of(type, from)));
    case TypeKind::Device:
      if (from.kind() == DefaultKind::Identifier) return IValue(Device(static_cast<DeviceType>(number_of(type, from))));
      return IValue(device_of(string_of_default(*from.as_string())));
    default: KEYWAY_FAIL(NotImplemented, "kernels cannot take the default {}", from.text());
  }
}

// A list of `Element`s, of which `get` makes one.
template <typename Element, typename Get>
std::vector<Element> elements(SchemaType list, DefaultValue from, Get&& get) {
  std::vector<Element> out;
  if (from.kind() != DefaultKind::List) return std::vector<Element>(list.list_size(), get(from));
  for (const DefaultValue element : from.elements()) out.push_back(get(element));
  return out;
}

std::vector<std::int64_t> ints_of(SchemaType list, DefaultValue from) {
  return elements<std::int64_t>(list, from, [&](DefaultValue v) { return number_of(list.element().kind(), v); });
}

// None is all that an element can be.
std::vector<TensorBase> tensors_of(SchemaType list, DefaultValue from) {
  return elements<TensorBase>(list, from, [](DefaultValue) { return TensorBase(); });
}

bool is_int(SchemaType type) { return type.is(TypeKind::Int) || type.is(TypeKind::SymInt); }

// Of elements that are optional or lists themselves.
IValue nested_value(SchemaType list, DefaultValue from) {
  const SchemaType element = list.element(), inner = element.element();
  if (element.is(TypeKind::List) && inner.is(TypeKind::Tensor))
    return IValue(
        elements<std::vector<TensorBase>>(list, from, [&](DefaultValue v) { return tensors_of(element, v); }));
  if (element.is(TypeKind::List) && is_int(inner))
    return IValue(elements<std::vector<std::int64_t>>(list, from, [&](DefaultValue v) { return ints_of(element, v); }));
  if (inner.is(TypeKind::Tensor)) return IValue(tensors_of(list, from));
  using Maybe = std::optional<std::int64_t>;
  if (is_int(inner))
    return IValue(elements<Maybe>(list, from, [&](DefaultValue v) {
      return v.kind() == DefaultKind::None ? Maybe() : Maybe(number_of(inner.kind(), v));
    }));
  return IValue(elements<IValue>(list, from, [&](DefaultValue v) { return value_of(element, v); }));
}

IValue list_value(SchemaType list, DefaultValue from) {
  const SchemaType element = list.element();
  const TypeKind kind = element.kind();
  switch (kind) {
    case TypeKind::Optional:
    case TypeKind::List: return nested_value(list, from);
    case TypeKind::Tensor: return IValue(tensors_of(list, from));
    case TypeKind::Int:
    case TypeKind::SymInt: return IValue(ints_of(list, from));
    case TypeKind::Float:
    case TypeKind::SymFloat:
      return IValue(elements<double>(list, from, [](DefaultValue v) { return double_of(v.text()); }));
    case TypeKind::Bool:
    case TypeKind::SymBool:
      return IValue::bool_list(elements<char>(list, from, [](DefaultValue v) { return *v.as_bool() ? '\1' : '\0'; }));
    case TypeKind::Scalar: return IValue(elements<Scalar>(list, from, scalar_of));
    case TypeKind::Str:
      return IValue(
          elements<std::string>(list, from, [](DefaultValue v) { return string_of_default(*v.as_string()); }));
    case TypeKind::ScalarType:
      return IValue(elements<ScalarType>(list, from,
                                         [&](DefaultValue v) { return static_cast<ScalarType>(number_of(kind, v)); }));
    default: return IValue(elements<IValue>(list, from, [&](DefaultValue v) { return value_of(element, v); }));
  }
}

IValue value_of(SchemaType type, DefaultValue from) {
  if (type.is(TypeKind::List)) return list_value(type, from);  // one None may stand for all of a `T?[N]`
  if (from.kind() == DefaultKind::None) return {};
  return type.is(TypeKind::Optional) ? value_of(type.element(), from) : one_value(type.kind(), from);
}

}  // namespace

IValue default_argument(Argument argument) { return value_of(argument.type(), *argument.default_value()); }

}  // namespace keyway::inline v1
