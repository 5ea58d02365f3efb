// Docstrings of the names that operators have in Python.
#pragma once

#include <keyway/codegen/emit/python_calls.h>

#include <string>

namespace keyway::inline v1 {

// Of each operator behind the name: its signatures, its sentence, what it says of shapes, dtypes and gradients, and its
// example.
std::string python_docstring(const PythonName& name);

}  // namespace keyway::inline v1
