// What random kernels draw from.
#pragma once

#include <keyway/core/generator.h>

namespace keyway::inline v1 {

// The next call of `generator`, or of the default one if it is absent. Throws for one of another device.
PhiloxCall next_call(const Generator& generator);

}  // namespace keyway::inline v1
