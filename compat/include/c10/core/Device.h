// See docs/porting.md.
#pragma once

#include <keyway/core/device/device.h>

#include <c10/core/DeviceType.h>
