// The values that the schema language has names for: dtypes, layouts, memory formats, device types and reductions. The
// one table of them, which the parser, the generator and the typed values of defaults
// (dispatch/call/default_argument.h) read.
#pragma once

#include <keyway/core/schema/type_kind.h>

#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

struct NamedValue {
  TypeKind type;
  std::int64_t number;     // the enumerator's
  std::string_view names;  // in schemas, separated by blanks; Python's own comes first
  std::string_view cpp;

  constexpr std::string_view python() const { return names.substr(0, names.find(' ')); }
  constexpr bool is_called(std::string_view name) const {
    for (std::string_view rest = names; !rest.empty();) {
      const std::string_view first = rest.substr(0, rest.find(' '));
      if (first == name) return true;
      rest.remove_prefix(first.size() < rest.size() ? first.size() + 1 : rest.size());
    }
    return false;
  }
};

// Names and numbers are PyTorch's, but for the number of a device type, which is Keyway's.
inline constexpr NamedValue kNamedValues[] = {
    {TypeKind::ScalarType, 0, "uint8", "ScalarType::Byte"},
    {TypeKind::ScalarType, 1, "int8", "ScalarType::Char"},
    {TypeKind::ScalarType, 2, "int16 short", "ScalarType::Short"},
    {TypeKind::ScalarType, 3, "int32 int", "ScalarType::Int"},
    {TypeKind::ScalarType, 4, "int64 long", "ScalarType::Long"},
    {TypeKind::ScalarType, 5, "float16 half", "ScalarType::Half"},
    {TypeKind::ScalarType, 6, "float32 float", "ScalarType::Float"},
    {TypeKind::ScalarType, 7, "float64 double", "ScalarType::Double"},
    {TypeKind::ScalarType, 8, "complex32", "ScalarType::ComplexHalf"},
    {TypeKind::ScalarType, 9, "complex64 complex cfloat", "ScalarType::ComplexFloat"},
    {TypeKind::ScalarType, 10, "complex128 cdouble", "ScalarType::ComplexDouble"},
    {TypeKind::ScalarType, 11, "bool", "ScalarType::Bool"},
    {TypeKind::ScalarType, 12, "qint8", "ScalarType::QInt8"},
    {TypeKind::ScalarType, 13, "quint8", "ScalarType::QUInt8"},
    {TypeKind::ScalarType, 14, "qint32", "ScalarType::QInt32"},
    {TypeKind::ScalarType, 15, "bfloat16", "ScalarType::BFloat16"},
    {TypeKind::ScalarType, 23, "float8_e5m2", "ScalarType::Float8_e5m2"},
    {TypeKind::ScalarType, 24, "float8_e4m3fn", "ScalarType::Float8_e4m3fn"},
    {TypeKind::ScalarType, 27, "uint16", "ScalarType::UInt16"},
    {TypeKind::ScalarType, 28, "uint32", "ScalarType::UInt32"},
    {TypeKind::ScalarType, 29, "uint64", "ScalarType::UInt64"},
    {TypeKind::Layout, 0, "strided", "Layout::Strided"},
    {TypeKind::Layout, 1, "sparse_coo", "Layout::Sparse"},
    {TypeKind::Layout, 2, "sparse_csr", "Layout::SparseCsr"},
    {TypeKind::Layout, 4, "sparse_csc", "Layout::SparseCsc"},
    {TypeKind::Layout, 5, "sparse_bsr", "Layout::SparseBsr"},
    {TypeKind::Layout, 6, "sparse_bsc", "Layout::SparseBsc"},
    {TypeKind::Layout, 7, "jagged", "Layout::Jagged"},
    {TypeKind::MemoryFormat, 0, "contiguous_format", "MemoryFormat::Contiguous"},
    {TypeKind::MemoryFormat, 1, "preserve_format", "MemoryFormat::Preserve"},
    {TypeKind::MemoryFormat, 2, "channels_last", "MemoryFormat::ChannelsLast"},
    {TypeKind::MemoryFormat, 3, "channels_last_3d", "MemoryFormat::ChannelsLast3d"},
    {TypeKind::Device, 0, "cpu", "DeviceType::CPU"},
    {TypeKind::Device, 1, "cuda", "DeviceType::CUDA"},
    {TypeKind::Device, 2, "meta", "DeviceType::Meta"},
    {TypeKind::Int, 1, "Mean", "Reduction::Mean"},
    {TypeKind::Int, 2, "Sum", "Reduction::Sum"},
};

// The value of a type that is called so, or null.
constexpr const NamedValue* find_named_value(TypeKind type, std::string_view name) {
  for (const NamedValue& value : kNamedValues) {
    if (value.type == type && value.is_called(name)) return &value;
  }
  return nullptr;
}
// The one of that number, or null.
constexpr const NamedValue* find_named_value(TypeKind type, std::int64_t number) {
  for (const NamedValue& value : kNamedValues) {
    if (value.type == type && value.number == number) return &value;
  }
  return nullptr;
}

}  // namespace keyway::inline v1
