// The operators as functions, and what makes tensors of other memory and of numbers.
#pragma once

#include <keyway/ops/all.h>
#include <keyway/ops/from_blob.h>
#include <keyway/ops/tensor_literal.h>

#include <ATen/core/Tensor.h>
