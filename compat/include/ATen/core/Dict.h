// Dictionaries as operators take them.
#pragma once

#include <keyway/dispatch/call/dict.h>

#include <ATen/core/Tensor.h>
