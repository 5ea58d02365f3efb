// Errors at the border: what the functions of the ABI throw inside becomes a code, and the thread keeps the message.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/stable/abi.h>

#include <cstdint>
#include <string>

namespace keyway::inline v1::abi {

// What the last failure of this thread was; empty if there was none.
const char* last_error() noexcept;
// How many failures the thread has seen.
std::uint64_t failure_count() noexcept;
// Keeps the exception that is being handled; `function` is put in front.
void remember_exception(const char* function) noexcept;

// Runs the body of a function of the ABI.
template <typename Body>
AOTITorchError guarded(const char* function, const Body& body) noexcept {
  try {
    body();
    return KEYWAY_ABI_SUCCESS;
  } catch (...) {
    remember_exception(function);
    return KEYWAY_ABI_FAILURE;
  }
}

// A pointer of the caller that a result is written to, or a text.
template <typename T>
T& checked(T* pointer, const char* what) {
  KEYWAY_CHECK_AS(Type, pointer != nullptr, "{} is null", what);
  return *pointer;
}

}  // namespace keyway::inline v1::abi
