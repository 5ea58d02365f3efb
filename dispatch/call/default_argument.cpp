#include <keyway/core/base/error.h>
#include <keyway/core/schema/named_values.h>
#include <keyway/core/schema/signature_code.h>
#include <keyway/core/schema/string_default.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/call/signature.h>

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

// A list of `Element`s, of which `get` makes one.
template <typename Element, typename Get>
std::vector<Element> elements(SchemaType list, DefaultValue from, Get&& get) {
  std::vector<Element> out;
  if (from.kind() != DefaultKind::List) return std::vector<Element>(list.list_size(), get(from));
  for (const DefaultValue element : from.elements()) out.push_back(get(element));
  return out;
}

Device device_of(DefaultValue from) {
  if (from.kind() == DefaultKind::Identifier) return Device(static_cast<DeviceType>(number_of(TypeKind::Device, from)));
  return device_of(string_of_default(*from.as_string()));
}

// The value of class T that a default of that type is.
template <typename T>
T value_as(SchemaType type, DefaultValue from) {
  if constexpr (detail::kIsVector<T>) {
    using Element = typename T::value_type;
    return elements<Element>(type, from, [&](DefaultValue v) { return value_as<Element>(type.element(), v); });
  } else if constexpr (detail::kIsOptional<T>) {
    return from.kind() == DefaultKind::None ? T() : T(value_as<typename T::value_type>(type.element(), from));
  } else if constexpr (std::is_same_v<T, TensorBase>) {
    return {};  // None is all that a tensor can be
  } else if constexpr (std::is_same_v<T, bool>) {
    return *from.as_bool();
  } else if constexpr (std::is_same_v<T, double>) {
    return double_of(from.text());
  } else if constexpr (std::is_same_v<T, complex<double>>) {
    return complex_of(from);
  } else if constexpr (std::is_same_v<T, Scalar>) {
    return scalar_of(from);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return string_of_default(*from.as_string());
  } else if constexpr (std::is_same_v<T, Device>) {
    return device_of(from);
  } else if constexpr (std::is_same_v<T, Generator> || std::is_same_v<T, CustomObject>) {
    KEYWAY_FAIL(NotImplemented, "kernels cannot take the default {}", from.text());
  } else {
    return static_cast<T>(number_of(type.kind(), from));
  }
}

IValue value_of(SchemaType type, DefaultValue from) {
  const bool is_list = type.is(TypeKind::List);  // one None may stand for all of a `T?[N]`
  if (from.kind() == DefaultKind::None && !is_list) return {};
  if (type.is(TypeKind::Optional)) return value_of(type.element(), from);
  SignatureCode code;
  IValue value;
  if (append_code(code, type) && detail::visit_value_class(detail::tag_of_code(code.view()), [&]<typename T>() {
        value = IValue(value_as<T>(type, from));
      }))
    return value;
  KEYWAY_CHECK_AS(NotImplemented, is_list, "kernels cannot take the default {}", from.text());
  return IValue(elements<IValue>(type, from, [&](DefaultValue v) { return value_of(type.element(), v); }));
}

}  // namespace

IValue default_argument(Argument argument) { return value_of(argument.type(), *argument.default_value()); }

}  // namespace keyway::inline v1
