// Modules.
#pragma once

#include <keyway/nn/nn.h>

#include <torch/types.h>
