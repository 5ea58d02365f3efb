// The class of tensors, with the operators that are methods.
#pragma once

#include <ATen/core/Tensor.h>
