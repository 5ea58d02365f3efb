// Differentiable operations, and gradients.
#pragma once

#include <keyway/autograd/engine.h>

#include <torch/csrc/autograd/custom_function.h>
