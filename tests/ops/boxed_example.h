// What examples of schema entries are compared with.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/tools/op_examples/literal.h>

#include <string>

namespace keyway::inline v1::testing {

// Where a result differs from a literal; empty if it does not. Floats may differ by 1e-4 of their size.
std::string difference(const IValue& value, const tools::Literal& expected);
// Where the metadata of a result on Meta differs from that on the CPU.
std::string metadata_difference(const IValue& meta, const IValue& cpu);

}  // namespace keyway::inline v1::testing
