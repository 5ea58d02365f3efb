// Checks whose messages are lists of values, as a stream shows them. Each throws a keyway::Error.
#pragma once

#include <keyway/core/base/concatenate.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/warning.h>

#include <c10/macros/Macros.h>
#include <keyway_compat/namespaces.h>

namespace keyway_compat {
// Of a check without a message, the condition is the message.
template <typename... Args>
std::string check_message(const char* condition, const Args&... args) {
  if constexpr (sizeof...(args) == 0) {
    return keyway::concatenate("Expected ", condition, " to be true, but got false.");
  } else {
    return keyway::concatenate(args...);
  }
}
}  // namespace keyway_compat

// An `if`, as PyTorch's: sources leave the semicolon out.
#define KEYWAY_COMPAT_CHECK(kind, condition, ...)                                                   \
  if (C10_UNLIKELY(!(condition))) {                                                                 \
    KEYWAY_FAIL(kind, "{}", ::keyway_compat::check_message(#condition __VA_OPT__(, ) __VA_ARGS__)); \
  }

#define TORCH_CHECK(condition, ...) KEYWAY_COMPAT_CHECK(Value, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) KEYWAY_COMPAT_CHECK(Value, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) KEYWAY_COMPAT_CHECK(Index, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) KEYWAY_COMPAT_CHECK(Type, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) KEYWAY_COMPAT_CHECK(LinAlg, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  KEYWAY_COMPAT_CHECK(NotImplemented, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) KEYWAY_COMPAT_CHECK(Internal, condition __VA_OPT__(, ) __VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) static_cast<void>(sizeof(!(condition)))
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) TORCH_INTERNAL_ASSERT(condition __VA_OPT__(, ) __VA_ARGS__)
#endif

#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), "Check failed: " #a " == " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b), "Check failed: " #a " != " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b), "Check failed: " #a " <= " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b), "Check failed: " #a " < " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b), "Check failed: " #a " >= " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b), "Check failed: " #a " > " #b " (", (a), " vs. ", (b), ")")

#define AT_ERROR(...) KEYWAY_FAIL(Value, "{}", ::keyway::concatenate(__VA_ARGS__))
#define AT_ASSERT(condition, ...) TORCH_INTERNAL_ASSERT(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_WARN(...) ::keyway::warn(::keyway::concatenate(__VA_ARGS__))
#define TORCH_WARN_ONCE(...)                                    \
  do {                                                          \
    static const bool warned = (TORCH_WARN(__VA_ARGS__), true); \
    static_cast<void>(warned);                                  \
  } while (false)
