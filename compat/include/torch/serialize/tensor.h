// Tensors as what is stored.
#pragma once

#include <torch/types.h>
