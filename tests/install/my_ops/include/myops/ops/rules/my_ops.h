// The rules of the library's kernels, and the geometry of its views.
#pragma once

#include <keyway/ops/rules/output_meta.h>
#include <keyway/ops/rules/views.h>

namespace myops::rules {

inline keyway::ViewGeometry every_second(const keyway::TensorBase& self, std::int64_t dim) {
  keyway::ViewGeometry view{self.sizes(), self.strides(), self.storage_offset()};
  const auto at = static_cast<std::size_t>(dim);
  view.sizes[at] = (view.sizes[at] + 1) / 2;
  view.strides[at] *= 2;
  return view;
}

inline keyway::OutputMeta flip_rows(const keyway::TensorBase& self) { return keyway::meta_of(self.sizes()); }

inline keyway::OutputMeta named(const keyway::TensorBase& self, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
  return keyway::meta_of(self.sizes());
}

inline keyway::OutputMeta reversed(const keyway::TensorBase& self) { return keyway::meta_of(self.sizes()); }

}  // namespace myops::rules
