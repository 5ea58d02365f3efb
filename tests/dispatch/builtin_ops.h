// Two built-in operators, as assembly would have them.
#pragma once

#include <keyway/dispatch/registry/static_table.h>

#include <cstdint>

namespace keyway::inline v1::testing {

using BuiltinSig = std::int64_t(const TensorBase&);
// CPU, Autograd and CompositeImplicitAutograd kernels that return 1, 2 and 3.
extern OperatorEntry builtin_full;
// A CompositeExplicitAutograd kernel that returns 4.
extern OperatorEntry builtin_overload;
extern const StaticTable<BuiltinSig, 4> builtin_full_table;

}  // namespace keyway::inline v1::testing
