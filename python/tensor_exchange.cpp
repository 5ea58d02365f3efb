#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_exchange.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

#include <utility>

namespace keyway::inline v1::python {
namespace {

template <typename F>
PyObject* new_reference(const F& make) {
  try {
    return make().release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

template <typename T>
bool give(std::optional<T> found, T& value) {
  if (found) value = *found;
  return found.has_value();
}

// What is no such thing, and what an error is of, too.
template <typename F>
bool found(const F& find) {
  try {
    return find();
  } catch (...) {
    return false;
  }
}

constexpr TensorExchange kExchange{
    .tensor_of = [](PyObject* object) { return is_tensor(object) ? &tensor_in(object) : nullptr; },
    .to_dtype = [](PyObject* object,
                   ScalarType& dtype) { return found([&] { return give(dtype_in(object), dtype); }); },
    .to_device = [](PyObject* object,
                    Device& device) { return found([&] { return give(device_in(object), device); }); },
    .to_scalar = [](PyObject* object, Scalar& scalar) { return found([&] { return to_scalar(object, scalar); }); },
    .object_of_tensor = [](const Tensor& tensor) { return new_reference([&] { return to_object(tensor); }); },
    .object_of_dtype = [](ScalarType dtype) { return new_reference([&] { return to_object(dtype); }); },
    .object_of_device = [](const Device& device) { return new_reference([&] { return to_object(device); }); },
    .object_of_scalar = [](const Scalar& scalar) { return new_reference([&] { return to_object(scalar); }); },
    .set_python_error = set_python_error,
};

}  // namespace

void add_tensor_exchange(nb::module_& module) {
  module.attr("_tensor_exchange") =
      checked(PyCapsule_New(const_cast<TensorExchange*>(&kExchange), TensorExchange::kCapsule, nullptr));
}

}  // namespace keyway::inline v1::python
