// What happens once, before a process makes its first block of memory for a tensor. The libraries have no static
// initialisers, so this is where variables of the environment are looked at.
#pragma once

namespace keyway::inline v1::detail {

// Defined by dispatch (trace.cpp). Weak, for what is linked of core alone.
void on_first_use() __attribute__((weak));

}  // namespace keyway::inline v1::detail
