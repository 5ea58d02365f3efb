// See docs/porting.md.
#pragma once

#include <keyway/core/tensor/tensor_arg.h>

#include <ATen/core/Tensor.h>
