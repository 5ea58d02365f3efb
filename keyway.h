// What a program that uses Keyway includes: tensors and their operators, gradients, registration of kernels.
#pragma once

#include <keyway/autograd/engine.h>
#include <keyway/autograd/function.h>
#include <keyway/autograd/variable.h>
#include <keyway/dispatch/library.h>
#include <keyway/ops/all.h>
