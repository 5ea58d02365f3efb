// Errors of the stable C ABI as exceptions: what is thrown is std::runtime_error, which every C++ library has.
#pragma once

#include <keyway/stable/abi.h>

#include <sstream>
#include <stdexcept>
#include <string>

#pragma GCC visibility push(hidden)
namespace keyway::stable {

// Throws the message of a call that failed.
inline void check(AOTITorchError code) {
  if (code != KEYWAY_ABI_SUCCESS) throw std::runtime_error(torch_exception_get_what_without_backtrace());
}

// The result of a function that gives it through its last pointer: get<int64_t>(aoti_torch_get_dim, tensor).
template <typename Result, typename... Params, typename... Args>
Result get(AOTITorchError (*function)(Params...), Args... args) {
  Result result{};
  check(function(args..., &result));
  return result;
}

namespace detail {
template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw std::runtime_error(text.str());
}
}  // namespace detail

}  // namespace keyway::stable
#pragma GCC visibility pop

// Throws the parts as one text unless the condition holds: KEYWAY_STABLE_CHECK(n > 0, "n is ", n).
#define KEYWAY_STABLE_CHECK(condition, ...)        \
  do {                                             \
    if (!(condition)) [[unlikely]]                 \
      ::keyway::stable::detail::fail(__VA_ARGS__); \
  } while (false)
