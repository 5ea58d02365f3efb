// See docs/porting.md.
#pragma once

#include <keyway/core/device/stream.h>

#include <keyway_compat/namespaces.h>
