// Canonical signatures: the one C++ type that an operator has in tables, handles and boxing, and its 64-bit
// hash.
//
// It knows core types only. Each type has a one-letter code; a signature's letters, e.g. "T(TTs", are hashed, and the
// same letters follow from a schema (core/schema/canonical_cpp.h): so signatures are compared without typeid, also
// across libraries.
//
//   schema            canonical                                   code
//   Tensor, Tensor?   const TensorBase&  (undefined if absent)    T
//   Tensor(a!)        TensorBase&                                 W
//   Tensor[]          ArrayRef<TensorBase>  (also of Tensor?)     L
//   int, SymInt       std::int64_t                                i     list: ArrayRef<std::int64_t>, capital letter
//   float             double                                      d
//   bool              bool                                        b
//   complex           complex<double>                             c
//   Scalar            const Scalar&                               s
//   str               std::string_view                            z
//   ScalarType, Layout, MemoryFormat, Device                      t l m e
//   Generator         const Generator&  (undefined if absent)     g
//   float[]           ArrayRef<double>                            D     bool[] B, Scalar[] S
//   str[]             ArrayRef<std::string>                       Z
//   ScalarType[]      ArrayRef<ScalarType>                        Y
//   int?[]            ArrayRef<std::optional<std::int64_t>>       N
//   int[][]           ArrayRef<std::vector<std::int64_t>>         J
//   Tensor[][]        ArrayRef<std::vector<TensorBase>>           M
//   T?                std::optional<T>                            ?T
//   results           the same letters: TensorBase, TensorBase&, std::string, std::vector, Scalar and Generator by
//                     value; std::tuple (..), void -
#pragma once

#include <keyway/core/base/complex.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/tensor/tensor_base.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace keyway::inline v1 {

class FunctionSchema;

// The letters of a signature, put together at compile time.
struct SignatureCode {
  static constexpr std::size_t kCapacity = 384;  // 64 arguments of two letters, and results
  char text[kCapacity] = {};
  std::size_t size = 0;

  constexpr SignatureCode& operator<<(char c) {
    text[size++] = c;
    return *this;
  }
  constexpr void append(std::string_view letters) {
    for (const char c : letters) *this << c;
  }
  constexpr std::string_view view() const { return {text, size}; }
};

// FNV-1a of a code.
constexpr std::uint64_t hash_of_code(std::string_view code) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : code) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

namespace detail {

// Code of a C++ type that is the same as argument and as result. A type without one cannot stand in a signature.
template <typename T>
struct TypeCode {
  static_assert(sizeof(T) == 0, "this C++ type has no counterpart in the schema language");
};
// Those that are different as argument and as result: what is lent to a kernel comes back as a value.
template <typename T>
struct ArgumentCode : TypeCode<T> {};
template <typename T>
struct ResultCode : TypeCode<T> {};

#define KEYWAY_CODE(which, type, letter)                                  \
  template <>                                                             \
  struct which<type> {                                                    \
    static constexpr void append(SignatureCode& code) { code << letter; } \
  }
KEYWAY_CODE(ArgumentCode, const TensorBase&, 'T');
KEYWAY_CODE(ResultCode, TensorBase, 'T');
KEYWAY_CODE(TypeCode, TensorBase&, 'W');
KEYWAY_CODE(TypeCode, std::int64_t, 'i');
KEYWAY_CODE(TypeCode, double, 'd');
KEYWAY_CODE(TypeCode, bool, 'b');
KEYWAY_CODE(TypeCode, complex<double>, 'c');
KEYWAY_CODE(ArgumentCode, const Scalar&, 's');
KEYWAY_CODE(ResultCode, Scalar, 's');
KEYWAY_CODE(ArgumentCode, std::optional<Scalar>, '?' << 's');
KEYWAY_CODE(ArgumentCode, std::string_view, 'z');
KEYWAY_CODE(ResultCode, std::string, 'z');
KEYWAY_CODE(TypeCode, ScalarType, 't');
KEYWAY_CODE(TypeCode, Layout, 'l');
KEYWAY_CODE(TypeCode, MemoryFormat, 'm');
KEYWAY_CODE(TypeCode, Device, 'e');
KEYWAY_CODE(ArgumentCode, const Generator&, 'g');
KEYWAY_CODE(ResultCode, Generator, 'g');
KEYWAY_CODE(ArgumentCode, ArrayRef<TensorBase>, 'L');
KEYWAY_CODE(ResultCode, std::vector<TensorBase>, 'L');
KEYWAY_CODE(ArgumentCode, ArrayRef<std::int64_t>, 'I');
KEYWAY_CODE(ResultCode, std::vector<std::int64_t>, 'I');
KEYWAY_CODE(ArgumentCode, ArrayRef<double>, 'D');
KEYWAY_CODE(ResultCode, std::vector<double>, 'D');
KEYWAY_CODE(ArgumentCode, ArrayRef<bool>, 'B');
KEYWAY_CODE(ResultCode, std::vector<bool>, 'B');
KEYWAY_CODE(ArgumentCode, ArrayRef<Scalar>, 'S');
KEYWAY_CODE(ResultCode, std::vector<Scalar>, 'S');
KEYWAY_CODE(ArgumentCode, ArrayRef<std::string>, 'Z');
KEYWAY_CODE(ResultCode, std::vector<std::string>, 'Z');
KEYWAY_CODE(ArgumentCode, ArrayRef<ScalarType>, 'Y');
KEYWAY_CODE(ResultCode, std::vector<ScalarType>, 'Y');
KEYWAY_CODE(ArgumentCode, ArrayRef<std::optional<std::int64_t>>, 'N');
KEYWAY_CODE(ResultCode, std::vector<std::optional<std::int64_t>>, 'N');
KEYWAY_CODE(ArgumentCode, ArrayRef<std::vector<std::int64_t>>, 'J');
KEYWAY_CODE(ResultCode, std::vector<std::vector<std::int64_t>>, 'J');
KEYWAY_CODE(ArgumentCode, ArrayRef<std::vector<TensorBase>>, 'M');
KEYWAY_CODE(ResultCode, std::vector<std::vector<TensorBase>>, 'M');
KEYWAY_CODE(ResultCode, void, '-');
#undef KEYWAY_CODE
template <typename T>
struct ArgumentCode<std::optional<T>> {
  static constexpr void append(SignatureCode& code) { ArgumentCode<T>::append(code << '?'); }
};
template <typename T>
struct ResultCode<std::optional<T>> {
  static constexpr void append(SignatureCode& code) { ResultCode<T>::append(code << '?'); }
};
template <typename... T>
struct ResultCode<std::tuple<T...>> {
  static constexpr void append(SignatureCode& code) {
    code << '(';
    (ResultCode<T>::append(code), ...);
    code << ')';
  }
};

template <typename Sig>
struct CodeOfSignature;
template <typename R, typename... Args>
struct CodeOfSignature<R(Args...)> {
  static_assert(sizeof...(Args) <= 64, "an operator has at most 64 arguments");
  static constexpr SignatureCode compute() {
    SignatureCode code;
    ResultCode<R>::append(code);
    code << '(';
    (ArgumentCode<Args>::append(code), ...);
    return code;
  }
  // At its own length, so that what is not needed of SignatureCode is in no binary.
  static constexpr auto kText = [] {
    constexpr SignatureCode code = compute();
    std::array<char, code.size + 1> text{};
    for (std::size_t i = 0; i < code.size; ++i) text[i] = code.text[i];
    return text;
  }();
};
}  // namespace detail

// "T(TTs" for TensorBase(const TensorBase&, const TensorBase&, const Scalar&).
template <typename Sig>
inline constexpr const char* signature_code = detail::CodeOfSignature<Sig>::kText.data();
template <typename Sig>
inline constexpr std::uint64_t signature_hash = hash_of_code(signature_code<Sig>);

// The signature that a schema asks for: its hash, and as C++ text for errors:
// "TensorBase(const TensorBase&, std::int64_t)". Throws keyway::Error for types that kernels cannot take.
KEYWAY_API std::uint64_t signature_hash_of(const FunctionSchema& schema);
KEYWAY_API std::string signature_text_of(const FunctionSchema& schema);

// The same of a code.
KEYWAY_API std::string signature_text_of_code(std::string_view code);

// How a C++ signature of code `have` differs from what a schema asks for: "argument 1, 'n', is double, not
// std::int64_t", and both in lines below that, with the first difference marked.
KEYWAY_API std::string signature_difference(std::string_view have, const FunctionSchema& schema);

// Whether a tensor may stand in an argument of this type, and so take part in dispatch.
template <typename T>
inline constexpr bool carries_keys =
    std::is_same_v<T, const TensorBase&> || std::is_same_v<T, TensorBase&> || std::is_same_v<T, ArrayRef<TensorBase>> ||
    std::is_same_v<T, ArrayRef<std::vector<TensorBase>>>;
template <typename T>
inline constexpr bool carries_keys<std::optional<T>> = carries_keys<T>;

}  // namespace keyway::inline v1
