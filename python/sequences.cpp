#include <keyway/core/base/error.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/dtype/promote_types.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/graph/capture.h>
#include <keyway/python/arrays.h>
#include <keyway/python/errors.h>
#include <keyway/python/sequences.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

#include <cstring>
#include <string>
#include <vector>

namespace keyway::inline v1::python {
namespace {

// A number of Python itself, and of no class derived from its own.
bool is_plain_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object);
}

// The dtype that a number of Python or a tensor of one element has; nullopt for anything else.
std::optional<ScalarType> dtype_of_element(PyObject* object) {
  if (PyFloat_Check(object)) return get_default_dtype();
  if (PyBool_Check(object)) return kBool;
  if (PyLong_Check(object)) return kLong;
  if (PyComplex_Check(object)) return get_default_complex_dtype();
  if (is_tensor(object)) return tensor_in(object).dtype();
  return std::nullopt;
}

bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object); }

// The number that `object` is, for an element of `dtype`. Errors (Type): it is none; a complex one in a real dtype.
Scalar element_in(PyObject* object, ScalarType dtype) {
  Scalar number;
  if (is_tensor(object)) {
    KEYWAY_CHECK(tensor_in(object).numel() == 1,
                 "only tensors of one element can be elements, not one of shape {}: keyway.stack puts tensors together",
                 tensor_in(object).sizes());
    graph::refuse_within_capture("a tensor that is made of others'");
    number = tensor_in(object).item();
  } else if (!is_integral(dtype, true) && PyLong_Check(object)) {
    number = Scalar(checked_double(object));  // any size
  } else if (is_bool(dtype) && PyLong_Check(object)) {
    number = Scalar(PyObject_IsTrue(object) == 1);  // any size
  } else if (!to_scalar(object, number)) {
    const PyNumberMethods* const slots = Py_TYPE(object)->tp_as_number;
    const bool has_float = slots != nullptr && slots->nb_float != nullptr && !is_text(object);
    KEYWAY_CHECK_AS(Type, has_float, "a {} is no number", class_name(object));
    number = Scalar(checked_double(object));
  }
  KEYWAY_CHECK_AS(Type, !number.is_complex() || is_complex(dtype) || is_bool(dtype),
                  "must be a real number for {}, not a complex one", dtype);
  return number;
}

// Its value as an element. Floats that are too large for a narrow float are infinite there, as in PyTorch. Errors:
// those of element_in; Value for a number that an integer dtype does not hold.
template <typename T>
T element_of(PyObject* object) {
  constexpr ScalarType dtype = cpp_type_to_scalar_type<T>;
  if constexpr (kIsComplex<T>) {
    const auto number = element_in(object, dtype).to<complex<double>>();
    return T(static_cast<typename T::value_type>(number.real()), static_cast<typename T::value_type>(number.imag()));
  } else if constexpr (is_floating_point(dtype)) {
    const bool is_float = PyFloat_CheckExact(object) != 0;
    return static_cast<T>(is_float ? PyFloat_AS_DOUBLE(object) : element_in(object, dtype).to<double>());
  } else {
    return element_in(object, dtype).to<T>();
  }
}

// Neither text, nor a tensor: one of these is an element.
bool is_sequence(PyObject* object) {
  if (is_plain_number(object)) return false;
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  if (PyUnicode_Check(object) || PyBytes_Check(object) || is_tensor(object)) return false;
  return PySequence_Check(object) != 0;
}

// Sequences of sequences, gone through in their order. A user's sequence may change while it is read: every length is
// looked at again, and nothing is read or written beyond what was found to be there.
class NestedData {
 public:
  // `infer`: whether the dtype is to be found.
  NestedData(PyObject* data, bool infer) : data_(data), infer_(infer) { measure(data, 0); }

  IntArrayRef sizes() const { return sizes_; }
  // Of all elements; Undefined if there are none.
  ScalarType dtype() const { return dtype_; }
  void fill(const Tensor& tensor) {
    char* to = static_cast<char*>(tensor.impl()->data());
    end_ = to + tensor.nbytes();
    visit_dtype<kAnyTypes | kFloat8Types>(tensor.dtype(), "tensor", [&]<typename T>() { write<T>(data_, 0, to); });
    if (to != end_) fail_changed();
  }

 private:
  void measure(PyObject* object, std::size_t dim) {
    if (!is_sequence(object)) return measure_element(object, dim);
    if (is_array(object)) return measure_array(object, dim);
    const nb::object list = checked(PySequence_Fast(object, "not a sequence"));
    enter(PySequence_Fast_GET_SIZE(list.ptr()), dim);
    PyTypeObject* last = nullptr;  // of an element that has been looked at: others of its type add nothing
    where_.push_back(0);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.ptr()); ++i) {
      const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(list.ptr(), i));
      if (Py_TYPE(item.ptr()) == last) continue;
      where_.back() = i;
      measure(item.ptr(), dim + 1);
      last = is_plain_number(item.ptr()) ? Py_TYPE(item.ptr()) : nullptr;
    }
    where_.pop_back();
  }

  // A dimension, which has the same size wherever it is met.
  void enter(std::int64_t size, std::size_t dim) {
    if (dim == sizes_.size() && !complete_) {
      KEYWAY_CHECK(dim < kMaxDims, "too many dimensions: {} has sequences in sequences, more than {} deep", item_name(),
                   kMaxDims);
      sizes_.push_back(size);
      complete_ = size == 0;
    }
    KEYWAY_CHECK_AS(Type, dim < sizes_.size(), "expected a number at {}, as there are before, not a sequence",
                    item_name());
    KEYWAY_CHECK(size == sizes_[dim], "expected sequence of length {} at dim {} (got {}): {}", sizes_[dim], dim, size,
                 item_name());
  }

  void measure_element(PyObject* object, std::size_t dim) {
    const bool is_text = PyUnicode_Check(object) != 0;
    KEYWAY_CHECK(complete_ || !is_text, "{} is a str, which is no number",
                 item_name());  // one more dimension, to PyTorch
    complete_ = true;
    if (!is_plain_number(object) && is_array(object)) {
      infer_from(object);
    } else {
      const auto dtype = dtype_of_element(object);
      KEYWAY_CHECK_AS(Type, dtype || !infer_ || !is_text, "{} is a str, which is no number", item_name());
      KEYWAY_CHECK_AS(Type, dtype || !infer_, "could not infer a dtype of a {}: {} is no number", class_name(object),
                      item_name());
      if (dtype) add(*dtype);
    }
    KEYWAY_CHECK_AS(Type, dim == sizes_.size(), "expected sequence of length {} at dim {} (got a number): {}",
                    dim < sizes_.size() ? sizes_[dim] : 0, dim, item_name());
  }

  void measure_array(PyObject* object, std::size_t dim) {
    const TensorBase array = tensor_of_array(object).tensor;
    for (const std::int64_t size : array.sizes()) enter(size, dim++);
    complete_ = true;
    add(array.dtype());
    KEYWAY_CHECK(dim == sizes_.size(), "an array of shape {} is not of as many dimensions as what is before: {}",
                 array.sizes(), item_name());
  }

  void infer_from(PyObject* array) {
    if (infer_) add(tensor_of_array(array).tensor.dtype());
  }
  void add(ScalarType dtype) { dtype_ = dtype_ == ScalarType::Undefined ? dtype : promote_types(dtype_, dtype); }

  template <typename T>
  void write(PyObject* object, std::size_t dim, char*& to) {
    if (!is_sequence(object)) return write_element<T>(object, to);
    if (is_array(object)) return write_array(object, cpp_type_to_scalar_type<T>, dim, to);
    const nb::object list = checked(PySequence_Fast(object, "not a sequence"));
    if (dim >= sizes_.size() || PySequence_Fast_GET_SIZE(list.ptr()) != sizes_[dim]) fail_changed();
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.ptr()); ++i) {
      const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(list.ptr(), i));
      write<T>(item.ptr(), dim + 1, to);
    }
  }

  template <typename T>
  void write_element(PyObject* object, char*& to) {
    if (static_cast<std::size_t>(end_ - to) < sizeof(T)) fail_changed();
    const T value = element_of<T>(object);
    std::memcpy(to, &value, sizeof(T));
    to += sizeof(T);
  }

  void write_array(PyObject* object, ScalarType dtype, std::size_t dim, char*& to) {
    const Tensor array = Tensor(tensor_of_array(object).tensor).to(dtype).contiguous();
    const IntArrayRef expected = IntArrayRef(sizes_).slice(std::min(dim, sizes_.size()));
    if (array.sizes() != expected || static_cast<std::size_t>(end_ - to) < array.nbytes()) fail_changed();
    if (array.nbytes() != 0) std::memcpy(to, array.const_data_ptr(), array.nbytes());
    to += array.nbytes();
  }

  [[noreturn]] static void fail_changed() { KEYWAY_FAIL(Value, "the sequences changed while they were read"); }

  // "data[1][0]".
  std::string item_name() const {
    std::string text = "data";
    for (const Py_ssize_t i : where_) text += "[" + std::to_string(i) + "]";
    return text;
  }

  PyObject* data_;
  bool infer_;
  bool complete_ = false;  // all dimensions are known
  std::vector<std::int64_t> sizes_;
  ScalarType dtype_ = ScalarType::Undefined;
  std::vector<Py_ssize_t> where_;
  char* end_ = nullptr;
};

}  // namespace

TensorBase tensor_of_sequence(PyObject* data, std::optional<ScalarType> dtype) {
  KEYWAY_CHECK_AS(Type, !PyUnicode_Check(data) && !PyBytes_Check(data), "invalid data type '{}'", class_name(data));
  NestedData nested(data, !dtype);
  const bool is_empty = nested.dtype() == ScalarType::Undefined;
  const Tensor tensor = make_tensor(nested.sizes(),
                                    dtype      ? *dtype
                                    : is_empty ? get_default_dtype()
                                               : nested.dtype(),
                                    DeviceType::CPU);
  nested.fill(tensor);
  return tensor;
}

}  // namespace keyway::inline v1::python
