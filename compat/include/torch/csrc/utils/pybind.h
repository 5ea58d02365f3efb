// Tensors in functions that pybind11 binds.
#pragma once

#include <torch/python.h>
