// Canonical signatures: the one C++ type that an operator has in tables, handles and boxing, and its 64-bit
// hash.
//
// It knows core types only. Each type has a one-letter code; a signature's text, e.g. "T(TTs)", is hashed,
// and the same text follows from a schema: so signatures are compared without typeid, also across libraries.
//
//   schema            canonical                                   code
//   Tensor, Tensor?   const TensorBase&  (undefined if absent)    T
//   Tensor(a!)        TensorBase&                                 W
//   Tensor[]          ArrayRef<TensorBase>  (also of Tensor?)     L
//   int, SymInt       std::int64_t                                i     lists: ArrayRef<...>, capital letter
//   float             double                                      d
//   bool              bool                                        b
//   complex           complex<double>                             c
//   Scalar            const Scalar&                               s
//   str               std::string_view                            z
//   ScalarType, Layout, MemoryFormat, Device                      t l m e
//   Generator         const Generator&  (undefined if absent)     g
//   T?                std::optional<T>                            ?T
//   results           TensorBase T, TensorBase& W, std::vector<TensorBase> L, std::tuple (..), void "",
//   numbers
#pragma once

#include <keyway/core/base/complex.h>
#include <keyway/core/generator.h>
#include <keyway/core/scalar.h>
#include <keyway/core/tensor_base.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace keyway::inline v1 {

class FunctionSchema;

// FNV-1a, so that a hash can be built letter by letter at compile time.
class SignatureHash {
 public:
  constexpr SignatureHash& operator<<(char c) {
    value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return *this;
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

// Code of a canonical C++ type. A type without one cannot stand in a signature.
template <typename T>
struct TypeCode {
  static_assert(sizeof(T) == 0, "this C++ type has no counterpart in the schema language");
};
#define KEYWAY_TYPE_CODE(type, letter)                                    \
  template <>                                                             \
  struct TypeCode<type> {                                                 \
    static constexpr void append(SignatureHash& hash) { hash << letter; } \
  }
KEYWAY_TYPE_CODE(const TensorBase&, 'T');
KEYWAY_TYPE_CODE(TensorBase, 'T');
KEYWAY_TYPE_CODE(TensorBase&, 'W');
KEYWAY_TYPE_CODE(ArrayRef<TensorBase>, 'L');
KEYWAY_TYPE_CODE(std::vector<TensorBase>, 'L');
KEYWAY_TYPE_CODE(std::int64_t, 'i');
KEYWAY_TYPE_CODE(double, 'd');
KEYWAY_TYPE_CODE(bool, 'b');
KEYWAY_TYPE_CODE(complex<double>, 'c');
KEYWAY_TYPE_CODE(const Scalar&, 's');
KEYWAY_TYPE_CODE(Scalar, 's');
KEYWAY_TYPE_CODE(std::string_view, 'z');
KEYWAY_TYPE_CODE(ScalarType, 't');
KEYWAY_TYPE_CODE(Layout, 'l');
KEYWAY_TYPE_CODE(MemoryFormat, 'm');
KEYWAY_TYPE_CODE(Device, 'e');
KEYWAY_TYPE_CODE(const Generator&, 'g');
KEYWAY_TYPE_CODE(ArrayRef<std::int64_t>, 'I');
KEYWAY_TYPE_CODE(ArrayRef<double>, 'D');
KEYWAY_TYPE_CODE(ArrayRef<bool>, 'B');
KEYWAY_TYPE_CODE(ArrayRef<Scalar>, 'S');
KEYWAY_TYPE_CODE(void, '-');
#undef KEYWAY_TYPE_CODE
template <typename T>
struct TypeCode<std::optional<T>> {
  static constexpr void append(SignatureHash& hash) { TypeCode<T>::append(hash << '?'); }
};
template <typename... T>
struct TypeCode<std::tuple<T...>> {
  static constexpr void append(SignatureHash& hash) {
    hash << '(';
    (TypeCode<T>::append(hash), ...);
    hash << ')';
  }
};

namespace detail {
template <typename Sig>
struct SignatureHashOf;
template <typename R, typename... Args>
struct SignatureHashOf<R(Args...)> {
  static constexpr std::uint64_t compute() {
    SignatureHash hash;
    TypeCode<R>::append(hash);
    hash << '(';
    (TypeCode<Args>::append(hash), ...);
    return hash.value();
  }
};
}  // namespace detail

template <typename Sig>
inline constexpr std::uint64_t signature_hash = detail::SignatureHashOf<Sig>::compute();

// The signature that a schema asks for: its hash, and as C++ text for errors:
// "TensorBase(const TensorBase&, std::int64_t)". Throws keyway::Error for types that kernels cannot take.
KEYWAY_API std::uint64_t signature_hash_of(const FunctionSchema& schema);
KEYWAY_API std::string signature_text_of(const FunctionSchema& schema);

// Whether a tensor may stand in an argument of this type, and so take part in dispatch.
template <typename T>
inline constexpr bool carries_keys = std::is_same_v<T, const TensorBase&> || std::is_same_v<T, TensorBase&> ||
                                     std::is_same_v<T, ArrayRef<TensorBase>>;

}  // namespace keyway::inline v1
