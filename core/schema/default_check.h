// Whether a default value fits its argument's type.
#pragma once

#include <keyway/core/schema/default_value.h>
#include <keyway/core/schema/type.h>

#include <string_view>

namespace keyway::inline v1::detail {

enum class DefaultFit { Fits, WrongType, UnknownIdentifier };

template <std::size_t N>
constexpr bool is_one_of(std::string_view text, const std::string_view (&names)[N]) {
  for (const std::string_view name : names) {
    if (name == text) return true;
  }
  return false;
}

// The identifiers that PyTorch's schemas use as values.
constexpr bool is_value_of(TypeKind kind, std::string_view name) {
  constexpr std::string_view kDtypes[] = {
      "uint8",      "int8",    "short",  "int16",   "int",      "int32", "long",      "int64",   "half",   "float16",
      "float",      "float32", "double", "float64", "bfloat16", "bool",  "complex32", "complex", "cfloat", "complex64",
      "complex128", "cdouble", "uint16", "uint32",  "uint64",   "qint8", "quint8",    "qint32",
  };
  constexpr std::string_view kLayouts[] = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                           "sparse_bsr", "sparse_bsc", "jagged"};
  constexpr std::string_view kFormats[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
  constexpr std::string_view kReductions[] = {"Mean", "Sum"};
  constexpr std::string_view kDevices[] = {"cpu", "cuda", "meta"};
  switch (kind) {
    case TypeKind::ScalarType: return is_one_of(name, kDtypes);
    case TypeKind::Layout: return is_one_of(name, kLayouts);
    case TypeKind::MemoryFormat: return is_one_of(name, kFormats);
    case TypeKind::Device: return is_one_of(name, kDevices);
    case TypeKind::Int: return is_one_of(name, kReductions);
    default: return false;
  }
}

constexpr bool is_number(DefaultKind kind) { return kind == DefaultKind::Int || kind == DefaultKind::Float; }

// Of a type that is written as one name.
constexpr DefaultFit check_single(DefaultValue value, TypeKind type) {
  const DefaultKind kind = value.kind();
  const auto fits_if = [](bool fits) { return fits ? DefaultFit::Fits : DefaultFit::WrongType; };
  if (kind == DefaultKind::Identifier) {
    const bool takes_identifiers = type == TypeKind::ScalarType || type == TypeKind::Layout ||
                                   type == TypeKind::MemoryFormat || type == TypeKind::Device || type == TypeKind::Int;
    if (!takes_identifiers) return DefaultFit::WrongType;
    return is_value_of(type, value.text()) ? DefaultFit::Fits : DefaultFit::UnknownIdentifier;
  }
  switch (type) {
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::DeviceIndex: return fits_if(value.as_int().has_value());
    case TypeKind::Float:
    case TypeKind::SymFloat: return fits_if(is_number(kind));
    case TypeKind::Bool:
    case TypeKind::SymBool: return fits_if(kind == DefaultKind::Bool);
    case TypeKind::Complex: return fits_if(is_number(kind) || kind == DefaultKind::Complex);
    case TypeKind::Scalar: return fits_if(is_number(kind) || kind == DefaultKind::Complex || kind == DefaultKind::Bool);
    case TypeKind::Str:
    case TypeKind::Dimname:
    case TypeKind::Device: return fits_if(kind == DefaultKind::String);
    // As the JIT prints them.
    case TypeKind::ScalarType:
    case TypeKind::Layout:
    case TypeKind::MemoryFormat: return fits_if(kind == DefaultKind::Int);
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
