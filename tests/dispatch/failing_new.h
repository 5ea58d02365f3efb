// operator new of the test program, which fails when it is told to.
#pragma once

namespace keyway::inline v1::testing {

// Allocations that this thread may still make; negative: any number.
extern thread_local int allocations_left;

}  // namespace keyway::inline v1::testing
