// The typed values of the defaults in schemas.
#pragma once

#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/ivalue.h>

namespace keyway::inline v1 {

// What a kernel gets for an argument that a call leaves out, as a boxed call passes it: of the argument's type, be it
// written `Device d="cpu"`, `ScalarType t=6` or `complex z=1`. One value of a `T[N]` stands for all N. Requires: the
// argument has a default. Throws keyway::Error for a device type that is not known.
KEYWAY_API IValue default_argument(Argument argument);

}  // namespace keyway::inline v1
