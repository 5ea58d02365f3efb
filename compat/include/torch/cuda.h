// Whether there are CUDA devices.
#pragma once

#include <torch/types.h>
