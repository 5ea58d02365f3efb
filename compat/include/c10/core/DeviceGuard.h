// Which device of a type is the current one.
#pragma once

#include <keyway/core/device/device_guard.h>

#include <c10/core/Device.h>
