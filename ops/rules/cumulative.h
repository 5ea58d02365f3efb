// Rules of cumulative operators.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <array>
#include <optional>

namespace keyway::inline v1::rules {

inline OutputMeta cumsum(const TensorBase& self, std::int64_t, std::optional<ScalarType> = {}) {
  return meta_like(self);
}
inline OutputMeta cumprod(const TensorBase& self, std::int64_t, std::optional<ScalarType> = {}) {
  return meta_like(self);
}
inline OutputMeta logcumsumexp(const TensorBase& self, std::int64_t) { return meta_like(self); }
inline std::array<OutputMeta, 2> cummax(const TensorBase& self, std::int64_t) {
  return {meta_like(self), meta_like(self)};
}
inline std::array<OutputMeta, 2> cummin(const TensorBase& self, std::int64_t) {
  return {meta_like(self), meta_like(self)};
}

}  // namespace keyway::inline v1::rules
