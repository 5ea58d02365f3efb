// TensorExchange: how other extension modules of the process turn Python's objects into tensors and back, without being
// linked with keyway._C. For bindings that are made by other means than Keyway's own, as by pybind11.
//
//   const TensorExchange* exchange = find_tensor_exchange();   // imports keyway
//   const Tensor* x = exchange->tensor_of(object);             // null: it is no tensor
//
// All functions require the interpreter's lock.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/tensor.h>

#include <Python.h>
#include <atomic>

namespace keyway::inline v1::python {

struct TensorExchange {
  static constexpr const char* kCapsule = "keyway._C._tensor_exchange";

  // Valid while the object is.
  const Tensor* (*tensor_of)(PyObject* object);
  // What an argument stands for; false, and no Python error, if it is nothing of that kind.
  bool (*to_dtype)(PyObject* object, ScalarType& dtype);
  bool (*to_device)(PyObject* object, Device& device);
  bool (*to_scalar)(PyObject* object, Scalar& scalar);
  // New references; null with a Python error set. That of an undefined tensor is None.
  PyObject* (*object_of_tensor)(const Tensor& tensor);
  PyObject* (*object_of_dtype)(ScalarType dtype);
  PyObject* (*object_of_device)(const Device& device);
  PyObject* (*object_of_scalar)(const Scalar& scalar);
  // Sets the Python error of the exception that is being handled.
  void (*set_python_error)() noexcept;
};

// Null with a Python error set if keyway cannot be imported.
inline const TensorExchange* find_tensor_exchange() {
  // No static local: importing may hand the interpreter's lock to a thread that would wait for its initialisation.
  static constinit std::atomic<const TensorExchange*> found = nullptr;
  if (const TensorExchange* const known = found.load(std::memory_order_relaxed)) return known;
  const auto* const imported = static_cast<const TensorExchange*>(PyCapsule_Import(TensorExchange::kCapsule, 0));
  if (imported != nullptr) found.store(imported, std::memory_order_relaxed);
  return imported;
}

}  // namespace keyway::inline v1::python
