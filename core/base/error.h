// Errors: keyway::Error, the base of every exception that the library throws, and KEYWAY_CHECK.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/macros.h>

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

enum class ErrorKind : std::uint8_t {
  Value,           // an argument has the right type and a wrong value or shape
  Type,            // an argument has a wrong type
  Dtype,           // a tensor has a dtype that the operator is not there for
  Index,           // an index is out of range
  NotImplemented,  // no kernel, or a part that is not there yet
  OutOfMemory,     // a request above the limit, or one that the system refused
  Registration,    // a schema, kernel or library that cannot be registered
  Autograd,        // the graph forbids it: changed saved value, freed graph, no history
  Parse,           // text or a file that is not what it should be
  LinAlg,          // a matrix that has no such decomposition, or for which none was found
  Internal,        // a broken invariant of Keyway itself
};
KEYWAY_API std::string_view to_string(ErrorKind kind);

// Its text begins with the operator, e.g.
//   add.Tensor: shapes [2, 3] and [4] do not broadcast: dimension 1 is 3 and 4; given self = float32[2, 3] on cpu, ...
// Copying shares the text and cannot throw.
class KEYWAY_API Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, const char* file, int line);
  Error(const Error&) noexcept;
  Error& operator=(const Error&) noexcept;
  ~Error() override;

  const char* what() const noexcept override;
  ErrorKind kind() const;
  std::string_view message() const;  // without the operator and what it was given
  std::string_view op() const;       // "add.Tensor", or empty outside operators
  const char* file() const;          // where it was raised
  int line() const;

  // Called as the error leaves an operator: the innermost one names the error, the others are its path. `given` is what
  // the text is to say of its arguments: "self = float32[2], dim = 3".
  void leave_op(std::string_view op, std::string_view given = {});

 private:
  struct Data;
  std::shared_ptr<Data> data_;
};

namespace detail {
template <typename T>
concept UnsignedInteger = std::unsigned_integral<T> && !std::same_as<T, bool>;

template <typename T>
concept HasToString = requires(const T& v) {
  std::string(to_string(v));
};
}  // namespace detail

// One value of an error text, in a form that crosses into the library without templates.
class FormatArg {
 public:
  template <std::same_as<bool> T>
  FormatArg(T v) : kind_(Kind::Bool), u_{.i = v} {}
  template <std::signed_integral T>
  FormatArg(T v) : kind_(Kind::Int), u_{.i = v} {}
  template <detail::UnsignedInteger T>
  FormatArg(T v) : kind_(Kind::Uint), u_{.u = v} {}
  template <std::floating_point T>
  FormatArg(T v) : kind_(Kind::Double), u_{.d = static_cast<double>(v)} {}
  FormatArg(std::string_view v) : kind_(Kind::Text), u_{.p = v.data()}, n_(v.size()) {}
  FormatArg(const char* v) : FormatArg(std::string_view(v)) {}
  FormatArg(const std::string& v) : FormatArg(std::string_view(v)) {}
  FormatArg(IntArrayRef v) : kind_(Kind::Ints), u_{.p = v.data()}, n_(v.size()) {}
  // Any type that has a to_string of its own.
  template <detail::HasToString T>
  FormatArg(const T& v)
      : kind_(Kind::Custom), u_{.p = &v}, print_([](const void* p) {
          return std::string(to_string(*static_cast<const T*>(p)));
        }) {}

  KEYWAY_API std::string str() const;

 private:
  enum class Kind : std::uint8_t { Bool, Int, Uint, Double, Text, Ints, Custom };
  Kind kind_;
  union {
    std::int64_t i;
    std::uint64_t u;
    double d;
    const void* p;
  } u_;
  std::size_t n_ = 0;
  std::string (*print_)(const void*) = nullptr;
};

// `text` with each {} replaced by the next value. {{ and }} stand for braces.
KEYWAY_API std::string format(std::string_view text, ArrayRef<FormatArg> args);

namespace detail {
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail(ErrorKind kind, const char* file, int line, std::string_view text,
                                              ArrayRef<FormatArg> args);

template <typename... Args>
[[noreturn]] KEYWAY_COLD void fail_with(ErrorKind kind, const char* file, int line, std::string_view text,
                                        const Args&... args) {
  if constexpr (sizeof...(args) == 0) {
    fail(kind, file, line, text, {});
  } else {
    const FormatArg list[] = {FormatArg(args)...};
    fail(kind, file, line, text, ArrayRef<FormatArg>(list, sizeof...(args)));
  }
}
}  // namespace detail

}  // namespace keyway::inline v1

// Throws keyway::Error of a kind: KEYWAY_FAIL(Index, "index {} is out of range", i).
#define KEYWAY_FAIL(kind, ...) ::keyway::detail::fail_with(::keyway::ErrorKind::kind, __FILE__, __LINE__, __VA_ARGS__)

// Throws keyway::Error of kind Value unless `cond` holds:
//   KEYWAY_CHECK(n > 0, "n is {}, but must be positive", n)
#define KEYWAY_CHECK(cond, ...) KEYWAY_CHECK_AS(Value, cond, __VA_ARGS__)

// The same with another kind.
#define KEYWAY_CHECK_AS(kind, cond, ...) \
  do {                                   \
    if (!(cond)) [[unlikely]]            \
      KEYWAY_FAIL(kind, __VA_ARGS__);    \
  } while (false)
