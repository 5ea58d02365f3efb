// The namespaces of PyTorch's C++ side: each has all names of Keyway, and those below, which are spelled otherwise
// there.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/complex.h>
#include <keyway/core/base/half.h>

#include <optional>
#include <string_view>

namespace c10 {
using namespace keyway;  // NOLINT(google-build-using-namespace): what this header is for

template <typename T>
using optional = std::optional<T>;
using nullopt_t = std::nullopt_t;
using std::in_place;
using std::make_optional;
using std::nullopt;
using string_view = std::string_view;
}  // namespace c10

namespace at {
using namespace c10;  // NOLINT(google-build-using-namespace)
}  // namespace at

namespace torch {
using namespace at;  // NOLINT(google-build-using-namespace)
}  // namespace torch
