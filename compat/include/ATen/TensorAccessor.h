// Elements of a tensor by brackets.
#pragma once

#include <ATen/core/TensorAccessor.h>
