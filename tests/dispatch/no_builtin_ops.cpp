// The tests of dispatch/ link no built-in operators.
#include <keyway/dispatch/operator_entry.h>

namespace keyway::inline v1 {
const OpList kBuiltinOps{nullptr, 0};
}
