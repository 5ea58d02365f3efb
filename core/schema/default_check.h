// Whether a default value fits its argument's type.
#pragma once

#include <keyway/core/schema/default_value.h>
#include <keyway/core/schema/named_values.h>
#include <keyway/core/schema/string_default.h>
#include <keyway/core/schema/type.h>

#include <string_view>

namespace keyway::inline v1::detail {

enum class DefaultFit { Fits, WrongType, UnknownIdentifier, BadEscape };

constexpr bool is_number(DefaultKind kind) { return kind == DefaultKind::Int || kind == DefaultKind::Float; }

// Whether a decimal number is less than the smallest one that double rounds to infinity, 2^1024 - 2^970, whose first 20
// digits are below.
constexpr bool fits_in_double(std::string_view number) {
  constexpr std::string_view kLimit = "17976931348623158079";
  constexpr int kLimitExponent = 309;  // 0.17976... * 10^309
  char digits[kLimit.size()] = {};
  std::size_t count = 0;
  int exponent = 0;
  bool fraction = false;
  std::size_t at = number.starts_with('-') ? 1 : 0;
  for (; at < number.size() && number[at] != 'e' && number[at] != 'E' && number[at] != 'j'; ++at) {
    if (number[at] == 'i' || number[at] == 'n') return true;  // inf, nan
    if (number[at] == '.') {
      fraction = true;
      continue;
    }
    const bool leading = count == 0 && number[at] == '0';
    exponent += fraction ? (leading ? -1 : 0) : (leading ? 0 : 1);
    if (!leading && count < kLimit.size()) digits[count++] = number[at];
  }
  if (count == 0) return true;  // zero
  while (count < kLimit.size()) digits[count++] = '0';
  if (at < number.size() && number[at] != 'j') {
    const bool negative = number[at + 1] == '-';
    int written = 0;
    for (++at; at < number.size(); ++at) {
      if (number[at] >= '0' && number[at] <= '9' && written < 1000000) written = written * 10 + (number[at] - '0');
    }
    exponent += negative ? -written : written;
  }
  if (exponent != kLimitExponent) return exponent < kLimitExponent;
  for (std::size_t i = 0; i < kLimit.size(); ++i) {
    if (digits[i] != kLimit[i]) return digits[i] < kLimit[i];
  }
  return false;
}

// "cuda" or "cuda:1"; which device types there are is not known here.
constexpr bool is_device_text(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  if (type.empty() || type[0] < 'a' || type[0] > 'z') return false;
  for (const char c : type) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  if (colon == std::string_view::npos) return true;
  const std::string_view index = text.substr(colon + 1);  // at most 127
  if (index.empty() || index.size() > 3 || (index.size() == 3 && index > std::string_view("127"))) return false;
  for (const char c : index) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

constexpr DefaultFit check_string(std::string_view text, TypeKind type) {
  if (type != TypeKind::Str && type != TypeKind::Dimname && type != TypeKind::Device) return DefaultFit::WrongType;
  for (std::string_view rest = text; !rest.empty();) {
    if (!next_character(rest)) return DefaultFit::BadEscape;
  }
  return type != TypeKind::Device || is_device_text(text) ? DefaultFit::Fits : DefaultFit::UnknownIdentifier;
}

// Of a type that is written as one name.
constexpr DefaultFit check_single(DefaultValue value, TypeKind type) {
  const DefaultKind kind = value.kind();
  const auto fits_if = [](bool fits) { return fits ? DefaultFit::Fits : DefaultFit::WrongType; };
  if (kind == DefaultKind::String) return check_string(*value.as_string(), type);
  const bool named = type == TypeKind::ScalarType || type == TypeKind::Layout || type == TypeKind::MemoryFormat;
  if (kind == DefaultKind::Identifier) {
    if (!named && type != TypeKind::Device && type != TypeKind::Int) return DefaultFit::WrongType;
    return find_named_value(type, value.text()) != nullptr ? DefaultFit::Fits : DefaultFit::UnknownIdentifier;
  }
  if (named) {  // a number, as the JIT prints them
    if (!value.as_int()) return DefaultFit::WrongType;
    return find_named_value(type, *value.as_int()) != nullptr ? DefaultFit::Fits : DefaultFit::UnknownIdentifier;
  }
  if ((is_number(kind) || kind == DefaultKind::Complex) && !fits_in_double(value.text())) return DefaultFit::WrongType;
  const bool integer_of_scalar = kind != DefaultKind::Int || value.as_int();
  switch (type) {
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::DeviceIndex: return fits_if(value.as_int().has_value());
    case TypeKind::Float:
    case TypeKind::SymFloat: return fits_if(is_number(kind));
    case TypeKind::Bool:
    case TypeKind::SymBool: return fits_if(kind == DefaultKind::Bool);
    case TypeKind::Complex: return fits_if(is_number(kind) || kind == DefaultKind::Complex);
    case TypeKind::Scalar:
      return fits_if((is_number(kind) && integer_of_scalar) || kind == DefaultKind::Complex ||
                     kind == DefaultKind::Bool);
    case TypeKind::None: return fits_if(kind == DefaultKind::None);
    case TypeKind::Any:
    case TypeKind::Variable: return DefaultFit::Fits;
    default: return DefaultFit::WrongType;
  }
}

constexpr DefaultFit check_default(DefaultValue value, SchemaType type) {
  switch (type.kind()) {
    case TypeKind::Optional:
      return value.kind() == DefaultKind::None ? DefaultFit::Fits : check_default(value, type.element());
    case TypeKind::List: {
      if (value.kind() != DefaultKind::List) {
        return type.list_size() > 0 ? check_default(value, type.element()) : DefaultFit::WrongType;
      }
      // T[N] for N > 1 is N of them, or none for "as computed"; T[1] is any list that one value may stand for.
      const std::size_t size = value.elements().size();
      if (type.list_size() > 1 && size != 0 && size != type.list_size()) return DefaultFit::WrongType;
      for (const DefaultValue element : value.elements()) {
        if (const DefaultFit fit = check_default(element, type.element()); fit != DefaultFit::Fits) return fit;
      }
      return DefaultFit::Fits;
    }
    case TypeKind::Union: {
      for (const SchemaType part : type.parts()) {
        if (check_default(value, part) == DefaultFit::Fits) return DefaultFit::Fits;
      }
      return DefaultFit::WrongType;
    }
    default: return check_single(value, type.kind());
  }
}

}  // namespace keyway::inline v1::detail
