// Tensors with gradients.
#pragma once

#include <keyway/autograd/variable.h>

#include <ATen/core/Tensor.h>
