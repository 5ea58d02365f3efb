// See docs/porting.md.
#pragma once

#include <keyway/core/base/bfloat16.h>

#include <keyway_compat/namespaces.h>
#if defined(__CUDACC__)
#include <keyway_compat/cuda_floats.h>
#endif
