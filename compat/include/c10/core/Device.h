// See docs/porting.md.
#pragma once

#include <keyway/core/device/device.h>

#include <keyway_compat/namespaces.h>
