// torch::indexing: what stands between the brackets of x[...].
#pragma once

#include <keyway/ops/indexing/get_item.h>

#include <ATen/core/Tensor.h>
