// The list of built-in operators of a program that has none: tests of dispatch link it instead of assembly.
#include <keyway/dispatch/call/operator_entry.h>

namespace keyway::inline v1 {

const OpList kBuiltinOps{};

}  // namespace keyway::inline v1
