// The types of the schema language, their names, and the name that a misspelt one may mean.
#pragma once

#include <keyway/core/base/edit_distance.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace keyway::inline v1 {

enum class TypeKind : std::uint8_t {
  // Written as one name.
  Tensor,
  Scalar,
  Int,
  SymInt,
  Float,
  SymFloat,
  Bool,
  SymBool,
  Complex,
  Str,
  // From here on Keyway has the class in Python too, which has none of that name itself (python/values.cpp).
  ScalarType,
  Layout,
  MemoryFormat,
  Device,
  DeviceIndex,
  Stream,
  Generator,
  Storage,
  QScheme,
  Quantizer,
  Dimname,
  Any,
  AnyList,
  AnyTuple,
  AnyClass,
  AnyEnum,
  None,
  Capsule,
  Class,     // a registered class: __torch__.torch.classes.ns.C
  Variable,  // a type variable: t, tVal, t1, t2
  // Made of other types.
  List,      // T[] or T[N]
  Optional,  // T?
  Tuple,     // (T, U)
  Union,     // Union(T, U)
  Dict,      // Dict(K, V)
  Future,    // Future(T)
  RRef,      // RRef(T)
  Await,     // Await(T)
};

namespace detail {

struct TypeName {
  std::string_view name;
  TypeKind kind;
};

// `t`, `tVal`, `t1` and `t2` are the only type variables that PyTorch's operators use. Any other unknown name
// is an error.
inline constexpr TypeName kTypeNames[] = {
    {"Tensor", TypeKind::Tensor},
    {"int", TypeKind::Int},
    {"bool", TypeKind::Bool},
    {"SymInt", TypeKind::SymInt},
    {"Scalar", TypeKind::Scalar},
    {"float", TypeKind::Float},
    {"ScalarType", TypeKind::ScalarType},
    {"Layout", TypeKind::Layout},
    {"Device", TypeKind::Device},
    {"MemoryFormat", TypeKind::MemoryFormat},
    {"str", TypeKind::Str},
    {"Generator", TypeKind::Generator},
    {"Dimname", TypeKind::Dimname},
    {"complex", TypeKind::Complex},
    {"SymFloat", TypeKind::SymFloat},
    {"SymBool", TypeKind::SymBool},
    {"DeviceIndex", TypeKind::DeviceIndex},
    {"Stream", TypeKind::Stream},
    {"Storage", TypeKind::Storage},
    {"QScheme", TypeKind::QScheme},
    {"Quantizer", TypeKind::Quantizer},
    {"Any", TypeKind::Any},
    {"AnyListType", TypeKind::AnyList},
    {"AnyTupleType", TypeKind::AnyTuple},
    {"AnyClassType", TypeKind::AnyClass},
    {"AnyEnumType", TypeKind::AnyEnum},
    {"None", TypeKind::None},
    {"NoneType", TypeKind::None},
    {"Capsule", TypeKind::Capsule},
    {"t", TypeKind::Variable},
    {"tVal", TypeKind::Variable},
    {"t1", TypeKind::Variable},
    {"t2", TypeKind::Variable},
    {"Dict", TypeKind::Dict},
    {"Union", TypeKind::Union},
    {"Future", TypeKind::Future},
    {"RRef", TypeKind::RRef},
    {"Await", TypeKind::Await},
};

constexpr std::optional<TypeKind> find_type_kind(std::string_view name) {
  for (const TypeName& entry : kTypeNames) {
    if (entry.name == name) return entry.kind;
  }
  return std::nullopt;
}

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The type whose name is meant by `name`, which is none; empty if no name is close.
constexpr std::string_view suggest_type_name(std::string_view name) {
  constexpr std::string_view kOtherWords[][2] = {
      {"string", "str"},          {"double", "float"},      {"long", "int"},
      {"int64_t", "int"},         {"boolean", "bool"},      {"dtype", "ScalarType"},
      {"TensorList", "Tensor[]"}, {"IntArrayRef", "int[]"}, {"number", "Scalar"},
      {"Optional", "T?"},         {"List", "T[]"},          {"Tuple", "(T, U)"},
  };
  for (const auto& [word, meant] : kOtherWords) {
    if (word == name) return meant;
  }
  if (name.size() > 20) return {};
  const auto equal = [](char a, char b) { return to_lower(a) == to_lower(b); };
  std::string_view best;
  std::size_t least = name.size() < 4 ? 1 : 3;  // closer than this
  for (const TypeName& entry : kTypeNames) {
    if (entry.kind == TypeKind::Variable) continue;
    const std::size_t distance = edit_distance(name, entry.name, equal);
    if (distance < least) {
      least = distance;
      best = entry.name;
    }
  }
  return best;
}

}  // namespace detail
}  // namespace keyway::inline v1
