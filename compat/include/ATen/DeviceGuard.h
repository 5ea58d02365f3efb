// Which device of a type is the current one, and that of a tensor.
#pragma once

#include <keyway/core/tensor/device_of.h>

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
