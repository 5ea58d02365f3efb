// Lists as operators take them.
#pragma once

#include <keyway/dispatch/call/list.h>

#include <ATen/core/Tensor.h>
