// All of Keyway: tensors and their operators, autograd, nn and optim.
#pragma once

#include <keyway/autograd/engine.h>
#include <keyway/autograd/function.h>
#include <keyway/nn/nn.h>
#include <keyway/ops/all.h>
