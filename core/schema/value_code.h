// The types of values that kernels take and return, in one table: for signatures, boxed values, the generator and
// Python. A type of the schema language is written in letters: one for what is written as one name, after '?' for an
// optional and '[' for a list. A dictionary is '{', the code of its keys and that of its values.
//
//   int  i      int?  ?i      int[]  [i      int[]?  ?[i      int?[]  [?i      int[][]  [[i      Dict(str, int)  {zi
//
// A tuple in a list is a list of its elements, which have to be of one type: (str, str)[] is [[z, as str[][] is.
//
// How to add a type: docs/architecture/dispatch.md, "A new type".
#pragma once

#include <keyway/core/schema/type_kind.h>

#include <string_view>

namespace keyway::inline v1::detail {

// A type that is written as one name. In C++, % stands for the class of tensors.
struct NamedType {
  char code;
  TypeKind kind;
  std::string_view schema;
  std::string_view cpp;       // the class of a value, and so of a result
  std::string_view argument;  // how a kernel takes it
  std::string_view python;
};
inline constexpr NamedType kNamedTypes[] = {
    {'T', TypeKind::Tensor, "Tensor", "%", "const %&", "Tensor"},
    {'i', TypeKind::Int, "int", "std::int64_t", "std::int64_t", "int"},
    {'d', TypeKind::Float, "float", "double", "double", "float"},
    {'b', TypeKind::Bool, "bool", "bool", "bool", "bool"},
    {'c', TypeKind::Complex, "complex", "complex<double>", "complex<double>", "complex"},
    {'s', TypeKind::Scalar, "Scalar", "Scalar", "const Scalar&", "Number"},
    {'z', TypeKind::Str, "str", "std::string", "std::string_view", "str"},
    {'t', TypeKind::ScalarType, "ScalarType", "ScalarType", "ScalarType", "dtype"},
    {'l', TypeKind::Layout, "Layout", "Layout", "Layout", "layout"},
    {'m', TypeKind::MemoryFormat, "MemoryFormat", "MemoryFormat", "MemoryFormat", "memory_format"},
    {'e', TypeKind::Device, "Device", "Device", "Device", "Device"},
    {'g', TypeKind::Generator, "Generator", "Generator", "const Generator&", "Generator"},
    // Of any registered class: which one, the schema's name says, and what a kernel's parameter points to. The text in
    // C++ is for errors; canonically it is a CustomObject.
    {'o', TypeKind::Class, "object", "intrusive_ptr<class>", "const intrusive_ptr<class>&", "ScriptObject"},
    // Tensor(a!), which only signatures know, and no result at all.
    {'W', TypeKind::None, "Tensor(a!)", "%&", "%&", ""},
    {'-', TypeKind::None, "()", "void", "void", ""},
};

// The lists, by their elements. Of tensors that may be absent the letters are those of tensors: see AbsentTensors.
inline constexpr std::string_view kListElements[] = {"T", "i", "d", "b", "s", "z", "t", "?i", "[i", "[T", "[z", "o"};

// Symbolic numbers are numbers.
constexpr TypeKind without_symbols(TypeKind kind) {
  switch (kind) {
    case TypeKind::SymInt: return TypeKind::Int;
    case TypeKind::SymFloat: return TypeKind::Float;
    case TypeKind::SymBool: return TypeKind::Bool;
    default: return kind;
  }
}

// Null if values of that type are not to be had.
constexpr const NamedType* find_named_type(TypeKind kind) {
  for (const NamedType& type : kNamedTypes) {
    if (type.kind == without_symbols(kind) && type.kind != TypeKind::None) return &type;
  }
  return nullptr;
}
constexpr const NamedType* find_named_type(char code) {
  for (const NamedType& type : kNamedTypes) {
    if (type.code == code) return &type;
  }
  return nullptr;
}

constexpr bool is_list_element(std::string_view code) {
  for (const std::string_view element : kListElements) {
    if (element == code) return true;
  }
  return false;
}

constexpr bool is_dict_key(std::string_view code) { return code == "z" || code == "i" || code == "d" || code == "b"; }
// Values are of what is written as one name, or lists.
constexpr bool is_dict_value(std::string_view code) {
  if (code.starts_with('[')) return is_list_element(code.substr(1));
  return code.size() == 1 && find_named_type(code.front()) != nullptr && code != "W" && code != "-";
}

}  // namespace keyway::inline v1::detail
