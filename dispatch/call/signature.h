// Canonical signatures: the one C++ type that an operator has in tables, handles and boxing, and its 64-bit
// hash.
//
// It knows core types only. A signature is written in the letters of its types (value_class.h), e.g. "T(TTs", which are
// hashed; the same letters follow from a schema (core/schema/signature_code.h): so signatures are compared without
// typeid, also across libraries. Arguments are what kernels take, results are values, std::tuple or void; a tensor
// that is written to, TensorBase&, is W, a tuple (..), and void -.
#pragma once

#include <keyway/core/base/hash.h>
#include <keyway/dispatch/call/value_class.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

namespace keyway::inline v1 {

class FunctionSchema;

// The letters of a signature, put together at compile time.
struct SignatureCode {
  static constexpr std::size_t kCapacity = 384;  // 64 arguments of at most six letters, and results
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

namespace detail {

// Of an argument.
template <typename T>
struct ArgumentCode {
  using Value = ValueOfArgument<T>;
  static_assert(std::is_same_v<T, KernelArg<Value>>, "kernels do not take values in this form");
  static constexpr void append(SignatureCode& code) { code.append(code_of<Value>()); }
};
template <>
struct ArgumentCode<TensorBase&> {
  static constexpr void append(SignatureCode& code) { code << 'W'; }
};

// Of results.
template <typename T>
struct ResultCode {
  static constexpr void append(SignatureCode& code) { code.append(code_of<T>()); }
};
template <>
struct ResultCode<TensorBase&> : ArgumentCode<TensorBase&> {};
template <>
struct ResultCode<void> {
  static constexpr void append(SignatureCode& code) { code << '-'; }
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
inline constexpr std::uint64_t signature_hash = fnv1a(signature_code<Sig>);

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
