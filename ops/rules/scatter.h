// Rules of gather and scatter. Errors: an index that is larger than self or src in a dimension where it must
// not be. Requires: all have one number of dimensions, where none counts as one.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <string_view>

namespace keyway::inline v1 {
class Scalar;
}

namespace keyway::inline v1::rules {

KEYWAY_API OutputMeta gather(const TensorBase& self, std::int64_t dim, const TensorBase& index, bool sparse_grad);
KEYWAY_API OutputMeta scatter(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src);
KEYWAY_API OutputMeta scatter(const TensorBase& self, std::int64_t dim, const TensorBase& index, const Scalar& value);
KEYWAY_API OutputMeta scatter_add(const TensorBase& self, std::int64_t dim, const TensorBase& index,
                                  const TensorBase& src);

KEYWAY_API OutputMeta scatter_reduce(const TensorBase& self, std::int64_t dim, const TensorBase& index,
                                     const TensorBase& src, std::string_view reduce, bool include_self);

}  // namespace keyway::inline v1::rules
