// See docs/porting.md.
#pragma once

#include <keyway/core/tensor/memory_format.h>

#include <keyway_compat/namespaces.h>
