// Tensors, dtypes and devices as arguments and results of functions that pybind11 binds. Without pybind11 there is
// nothing here, and PYBIND11_MODULE does not compile.
#pragma once

#include <torch/types.h>

#if __has_include(<pybind11/pybind11.h>)
#include <keyway_compat/pybind.h>
#endif
