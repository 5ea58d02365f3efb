// cast_loops: the loops that convert contiguous elements, for drivers that do so on the way.
#pragma once

#include <keyway/backends/cpu/loop.h>
#include <keyway/core/scalar_type.h>

namespace keyway::inline v1::detail {

// out, in: each element as Cast (ops/functors/copy.h) has it. The context is not used. Throws keyway::Error(Type) where
// one of the dtypes is no number.
const LevelTable<Loop>& cast_loops(ScalarType to, ScalarType from);

}  // namespace keyway::inline v1::detail
