// Examples of schema entries as boxed calls.
#pragma once

#include <keyway/dispatch/dispatcher.h>
#include <keyway/dispatch/ivalue.h>
#include <keyway/tests/ops/literal.h>

#include <string>

namespace keyway::inline v1::testing {

// The stack of a call with literal arguments; defaults filled in. Tensors lie on `device`: on Meta they are copied
// there.
Stack make_arguments(const OperatorEntry& op, const Literal& call, DeviceType device = DeviceType::CPU);
// Where a result differs from a literal; empty if it does not. Floats may differ by 1e-4 of their size.
std::string difference(const IValue& value, const Literal& expected);
// Where the metadata of a result on Meta differs from that on the CPU.
std::string metadata_difference(const IValue& meta, const IValue& cpu);

}  // namespace keyway::inline v1::testing
