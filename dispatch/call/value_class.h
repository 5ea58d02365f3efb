// The C++ classes of the values that kernels take and return. Each has the code of its schema type
// (core/schema/value_code.h), and a form in which a kernel takes it:
//
//   value                        argument                      code
//   TensorBase                   const TensorBase&             T        undefined if absent
//   Scalar, Generator            const Scalar&, ...            s g
//   CustomObject                 const CustomObject&           o
//   std::string                  std::string_view              z
//   std::int64_t and others      the same                      i ...
//   std::vector<T>               ArrayRef<T>                   [ and the code of T
//   std::optional<T>             std::optional, by value       ? and the code of T
//   Dict<K, V>                   const Dict<K, V>&             { and the codes of K and V
#pragma once

#include <keyway/core/base/class_kinds.h>
#include <keyway/core/base/complex.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/schema/value_code.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/dispatch/call/custom_object.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace keyway::inline v1 {
template <typename K, typename V>
class Dict;
}  // namespace keyway::inline v1

namespace keyway::inline v1::detail {

template <typename... T>
struct TypeList {
  static constexpr std::size_t kSize = sizeof...(T);
};

// Every class of values but dictionaries, the most frequent ones first.
using ValueClasses =
    TypeList<TensorBase, std::int64_t, std::vector<std::int64_t>, Scalar, bool, double, ScalarType, std::string,
             std::vector<TensorBase>, Device, MemoryFormat, Layout, Generator, complex<double>, std::vector<double>,
             std::vector<bool>, std::vector<Scalar>, std::vector<std::string>, std::vector<ScalarType>,
             std::vector<std::optional<std::int64_t>>, std::vector<std::vector<std::int64_t>>,
             std::vector<std::vector<TensorBase>>, std::vector<std::vector<std::string>>, CustomObject,
             std::vector<CustomObject>>;

template <typename T, typename... Classes>
constexpr bool is_one_of(TypeList<Classes...>) {
  return (std::is_same_v<T, Classes> || ...);
}
template <typename T>
concept ValueClass = is_one_of<T>(ValueClasses());

// The letter of a class that is no list and no std::optional; 0 if it is no class of values.
template <typename T>
inline constexpr char kLetterOf =
    []<typename... Classes>(std::string_view letters, TypeList<Classes...>) {
      char found = 0;
      ((found = std::is_same_v<T, Classes> ? letters.front() : found, letters.remove_prefix(1)), ...);
      return found;
    }("Tidbcsztlmego", TypeList<TensorBase, std::int64_t, double, bool, complex<double>, Scalar, std::string,
                                ScalarType, Layout, MemoryFormat, Device, Generator, CustomObject>());

// The code of a class, as text with a 0 behind it.
template <typename T>
struct ValueCode {
  static_assert(kLetterOf<T> != 0, "this C++ type has no counterpart in the schema language");
  static constexpr std::array<char, 2> kText{kLetterOf<T>, '\0'};
};
template <char prefix, typename T>
struct PrefixedCode {
  static constexpr auto kText = [] {
    constexpr auto inner = ValueCode<T>::kText;
    std::array<char, inner.size() + 1> text{prefix};
    for (std::size_t i = 0; i < inner.size(); ++i) text[i + 1] = inner[i];
    return text;
  }();
};
template <typename T>
struct ValueCode<std::optional<T>> : PrefixedCode<'?', T> {};
template <typename T>
struct ValueCode<std::vector<T>> : PrefixedCode<'[', T> {
  static_assert(is_list_element(ValueCode<T>::kText.data()),
                "lists of this C++ type have no counterpart among schemas");
};
template <typename K, typename V>
struct ValueCode<Dict<K, V>> {
  static_assert(is_dict_key(ValueCode<K>::kText.data()) && is_dict_value(ValueCode<V>::kText.data()),
                "dictionaries of these C++ types have no counterpart among schemas");
  static constexpr auto kText = [] {
    constexpr auto key = ValueCode<K>::kText;
    constexpr auto value = ValueCode<V>::kText;
    std::array<char, key.size() + value.size()> text{'{'};
    for (std::size_t i = 0; i + 1 < key.size(); ++i) text[1 + i] = key[i];
    for (std::size_t i = 0; i < value.size(); ++i) text[key.size() + i] = value[i];
    return text;
  }();
};
template <typename T>
constexpr std::string_view code_of() {
  return {ValueCode<T>::kText.data(), ValueCode<T>::kText.size() - 1};
}

// How a kernel takes a value of class T; ValueOf is the inverse.
template <typename T>
struct KernelArgOf {
  static constexpr bool kByReference = std::is_same_v<T, TensorBase> || std::is_same_v<T, Scalar> ||
                                       std::is_same_v<T, Generator> || std::is_same_v<T, CustomObject>;
  using type = std::conditional_t<kByReference, const T&, T>;
};
template <>
struct KernelArgOf<std::string> {
  using type = std::string_view;
};
template <typename K, typename V>
struct KernelArgOf<Dict<K, V>> {
  using type = const Dict<K, V>&;
};
template <typename T>
struct KernelArgOf<std::vector<T>> {
  using type = ArrayRef<T>;
};
template <typename T>
struct KernelArgOf<std::optional<T>> {
  using type = std::optional<std::remove_cvref_t<typename KernelArgOf<T>::type>>;
};
template <typename T>
using KernelArg = typename KernelArgOf<T>::type;

template <typename T>
struct ValueOf {
  using type = T;
};
template <typename T>
struct ValueOf<const T&> : ValueOf<T> {};
template <>
struct ValueOf<std::string_view> {
  using type = std::string;
};
template <typename T>
struct ValueOf<ArrayRef<T>> {
  using type = std::vector<T>;
};
template <typename T>
struct ValueOf<std::optional<T>> {
  using type = std::optional<typename ValueOf<T>::type>;
};
template <typename Argument>
using ValueOfArgument = typename ValueOf<Argument>::type;

// Every named type has a class, except the two rows `Tensor(a!)` and `()`.
static_assert(ValueClasses::kSize == std::size(kNamedTypes) - 2 + std::size(kListElements));

}  // namespace keyway::inline v1::detail
