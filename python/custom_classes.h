// Objects of the classes that libraries register, in Python.
#pragma once

#include <keyway/dispatch/call/custom_object.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

// An instance of the Python class of the object's class, a ScriptObject; None if it is empty. Objects that are the same
// are equal in Python, each time in an instance of its own.
nb::object to_object(const CustomObject& object);

}  // namespace keyway::inline v1::python
