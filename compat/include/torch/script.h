// What operators that TorchScript calls are written with.
#pragma once

#include <torch/autograd.h>
#include <torch/library.h>
#include <torch/types.h>
#include <torch/version.h>
