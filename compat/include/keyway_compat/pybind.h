// pybind11's casters for tensors and what describes them, and keyway's errors as exceptions of Python. They are those
// of keyway._C, which is asked through its TensorExchange.
#pragma once

#include <keyway/python/tensor_exchange.h>

#include <pybind11/complex.h>
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/types.h>

namespace py = pybind11;

namespace keyway_compat {

inline const keyway::python::TensorExchange& exchange() {
  const keyway::python::TensorExchange* const found = keyway::python::find_tensor_exchange();
  if (found == nullptr) throw pybind11::error_already_set();
  return *found;
}

// Before the first function with a tensor is called: errors of a module that has no such function are pybind11's.
inline void translate_errors() {
  static const bool once = [] {
    pybind11::register_local_exception_translator([](std::exception_ptr error) {
      try {
        if (error) std::rethrow_exception(error);
      } catch (const keyway::Error&) {
        exchange().set_python_error();
      }
    });
    return true;
  }();
  static_cast<void>(once);
}

inline pybind11::handle checked(PyObject* made) {
  if (made == nullptr) throw pybind11::error_already_set();
  return made;
}

}  // namespace keyway_compat

namespace pybind11::detail {

template <>
struct type_caster<keyway::Tensor> {
  PYBIND11_TYPE_CASTER(keyway::Tensor, const_name("torch.Tensor"));
  bool load(handle source, bool) {
    keyway_compat::translate_errors();
    const keyway::Tensor* const tensor = keyway_compat::exchange().tensor_of(source.ptr());
    if (tensor == nullptr) return false;
    value = *tensor;
    return true;
  }
  static handle cast(const keyway::Tensor& tensor, return_value_policy, handle) {
    return keyway_compat::checked(keyway_compat::exchange().object_of_tensor(tensor));
  }
};

template <>
struct type_caster<keyway::ScalarType> {
  PYBIND11_TYPE_CASTER(keyway::ScalarType, const_name("torch.dtype"));
  bool load(handle source, bool) { return keyway_compat::exchange().to_dtype(source.ptr(), value); }
  static handle cast(keyway::ScalarType dtype, return_value_policy, handle) {
    return keyway_compat::checked(keyway_compat::exchange().object_of_dtype(dtype));
  }
};

template <>
struct type_caster<keyway::Scalar> {
  PYBIND11_TYPE_CASTER(keyway::Scalar, const_name("Number"));
  bool load(handle source, bool) { return keyway_compat::exchange().to_scalar(source.ptr(), value); }
  static handle cast(const keyway::Scalar& scalar, return_value_policy, handle) {
    return keyway_compat::checked(keyway_compat::exchange().object_of_scalar(scalar));
  }
};

// Has no default constructor, which PYBIND11_TYPE_CASTER asks for.
template <>
struct type_caster<keyway::Device> {
  static constexpr auto name = const_name("torch.device");
  template <typename>
  using cast_op_type = keyway::Device;
  operator keyway::Device() { return value; }
  bool load(handle source, bool) { return keyway_compat::exchange().to_device(source.ptr(), value); }
  static handle cast(keyway::Device device, return_value_policy, handle) {
    return keyway_compat::checked(keyway_compat::exchange().object_of_device(device));
  }

 private:
  keyway::Device value = keyway::DeviceType::CPU;
};

// A list of integers, which the caster keeps for the time of the call.
template <>
struct type_caster<keyway::IntArrayRef> {
  PYBIND11_TYPE_CASTER(keyway::IntArrayRef, const_name("list[int]"));
  bool load(handle source, bool convert) {
    if (!isinstance<sequence>(source) || isinstance<str>(source)) return false;
    make_caster<std::vector<std::int64_t>> list;
    if (!list.load(source, convert)) return false;
    kept_ = cast_op<std::vector<std::int64_t>&&>(std::move(list));
    value = kept_;
    return true;
  }
  static handle cast(keyway::IntArrayRef list, return_value_policy policy, handle parent) {
    return make_caster<std::vector<std::int64_t>>::cast(list.vec(), policy, parent);
  }

 private:
  std::vector<std::int64_t> kept_;
};

}  // namespace pybind11::detail
