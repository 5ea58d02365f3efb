// See docs/porting.md.
#pragma once

#include <keyway/core/device/allocator.h>

#include <keyway_compat/namespaces.h>
