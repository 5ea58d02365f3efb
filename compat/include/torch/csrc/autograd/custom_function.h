// Differentiable operations that a user writes.
#pragma once

#include <keyway/autograd/function.h>

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/variable.h>
