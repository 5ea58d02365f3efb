// Rules of random operators.
#pragma once

#include <keyway/core/generator.h>
#include <keyway/ops/rules/output_meta.h>

#include <array>
#include <optional>

namespace keyway::inline v1::rules {

inline OutputMeta multinomial(const TensorBase& self, std::int64_t num_samples, bool, const Generator&) {
  OutputMeta meta = meta_of(self.sizes());
  meta.sizes.back() = num_samples;
  return meta;
}
inline std::array<OutputMeta, 2> native_dropout(const TensorBase& input, double, std::optional<bool>) {
  return {meta_of(input.sizes()), meta_of(input.sizes())};
}
inline OutputMeta randperm(std::int64_t n, const Generator&, std::optional<ScalarType>, std::optional<Layout>,
                           std::optional<Device>, std::optional<bool>) {
  return meta_of({n});
}

}  // namespace keyway::inline v1::rules
