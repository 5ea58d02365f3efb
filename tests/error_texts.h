// The texts of errors, for tests. Requires: FAIL of a test framework (catch.h).
#pragma once

#include <keyway/core/base/error.h>

#include <string>
#include <utility>

namespace keyway::inline v1::testing {

// The text of the keyway::Error that `call` throws; fails the test if it throws none.
template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("expected a keyway::Error, but nothing was thrown");
  return {};
}

// The text of an error without the arguments that it lists.
inline std::string without_arguments(const std::string& error) { return error.substr(0, error.find("; given ")); }
template <typename Call>
std::string error_alone(Call&& call) {
  return without_arguments(error_of(std::forward<Call>(call)));
}

}  // namespace keyway::inline v1::testing
