// All of the C++ side, for extensions of Python.
#pragma once

#include <torch/all.h>
#include <torch/python.h>
