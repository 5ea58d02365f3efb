#include <keyway/core/base/error.h>
#include <keyway/core/tensor/reduction.h>
#include <keyway/dispatch/call/boxing.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/numpy_classes.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>
#include <keyway/python/values.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace keyway::inline v1::python {
namespace {

SchemaType without_optional(SchemaType type) { return type.is(TypeKind::Optional) ? type.element() : type; }

// A tensor that may stand for a number: one element, no dimensions, no gradient to lose.
bool is_number_tensor(PyObject* object) {
  return is_tensor(object) && tensor_in(object).dim() == 0 && !tensor_in(object).requires_grad();
}

// What an object's __index__ gives; nothing if it has none, or is no single integer, as an array may be.
nb::object index_of(PyObject* object) {
  if (!PyIndex_Check(object)) return {};
  nb::object number = nb::steal(PyNumber_Index(object));
  if (number.is_valid()) return number;
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) rethrow_python_error();
  PyErr_Clear();
  return {};
}

// An integer of Python, of NumPy, or a tensor of one. No bool.
bool to_int(PyObject* object, std::int64_t& value) {
  if (PyBool_Check(object) || PyFloat_Check(object)) return false;
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    KEYWAY_CHECK(overflow == 0, "an integer does not fit in 64 bits");
    return true;
  }
  if (is_tensor(object)) {
    if (!is_number_tensor(object) || !is_integral(tensor_in(object).dtype(), false)) return false;
    value = tensor_in(object).item().to<std::int64_t>();
    return true;
  }
  const nb::object number = index_of(object);
  return number.is_valid() && to_int(number.ptr(), value);
}

// A real number; unlike for an integer, a bool counts as 0 or 1, and an int may be beyond 64 bits.
bool to_double(PyObject* object, double& value) {
  if (PyFloat_Check(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_CheckExact(object)) {
    value = PyLong_AsDouble(object);
    if (PyErr_Occurred() != nullptr) rethrow_python_error();
    return true;
  }
  Scalar scalar;
  if (!to_scalar(object, scalar) || scalar.is_complex()) return false;
  value = scalar.to<double>();
  return true;
}

bool to_bool(PyObject* object, bool& value) {
  if (!PyBool_Check(object)) {
    if (!is_tensor(object)) return to_bool_of_numpy(object, value);
    if (!is_number_tensor(object) || tensor_in(object).dtype() != kBool) return false;
    value = tensor_in(object).item().to<bool>();
    return true;
  }
  value = object == Py_True;
  return true;
}

template <typename T>
bool to_named(std::optional<T> named, IValue& value) {
  if (named) value = IValue(*named);
  return named.has_value();
}

bool to_one(TypeKind kind, PyObject* object, IValue& value) {
  switch (kind) {
    case TypeKind::Tensor:
      if (!is_tensor(object)) return false;
      value = IValue(static_cast<const TensorBase&>(tensor_in(object)));
      return true;
    case TypeKind::Scalar: {
      Scalar scalar;
      if (!to_scalar(object, scalar)) return false;
      value = IValue(scalar);
      return true;
    }
    case TypeKind::Int:
    case TypeKind::SymInt: {
      std::int64_t number = 0;
      if (!to_int(object, number)) return false;
      value = IValue(number);
      return true;
    }
    case TypeKind::Float: {
      double number = 0;
      if (!to_double(object, number)) return false;
      value = IValue(number);
      return true;
    }
    case TypeKind::Bool: {
      bool truth = false;
      if (!to_bool(object, truth)) return false;
      value = IValue(truth);
      return true;
    }
    case TypeKind::Complex: {
      Scalar scalar;
      if (!to_scalar(object, scalar)) return false;
      value = IValue(scalar.to<complex<double>>());
      return true;
    }
    case TypeKind::Str:
      if (!PyUnicode_Check(object)) return false;
      value = IValue(text_in(object));
      return true;
    case TypeKind::ScalarType: return to_named(dtype_in(object), value);
    case TypeKind::Layout: return to_named(layout_in(object), value);
    case TypeKind::MemoryFormat: return to_named(memory_format_in(object), value);
    case TypeKind::Device: return to_named(device_in(object), value);
    case TypeKind::Generator: {
      Generator generator(nullptr);
      if (!nb::try_cast(nb::handle(object), generator)) return false;
      value = IValue(std::move(generator));
      return true;
    }
    default: return false;
  }
}

// The elements of a list that are converted by `one`; false if one of them is of another type.
template <typename T, typename One>
bool to_elements(PyObject* sequence, std::vector<T>& elements, One&& one) {
  const Py_ssize_t size = PySequence_Size(sequence);
  if (size < 0) rethrow_python_error();
  elements.resize(static_cast<std::size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    const nb::object item = checked(PySequence_GetItem(sequence, i));
    if (!one(item.ptr(), elements[static_cast<std::size_t>(i)])) return false;
  }
  return true;
}

// A list, a tuple, or what says that it is a sequence (collections.abc.Sequence), but for text and bytes.
bool is_sequence(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object) || !PySequence_Check(object) ||
      is_tensor(object))
    return false;
  static PyObject* const sequence =
      nb::object(nb::module_::import_("collections.abc").attr("Sequence")).release().ptr();
  const int is_one = PyObject_IsInstance(object, sequence);
  if (is_one < 0) rethrow_python_error();
  return is_one == 1;
}

// Of a sequence, or of one value `size` times over. A str is a sequence to Python, and no list of one here.
template <typename T, typename One>
bool to_vector(PyObject* object, std::size_t size, std::vector<T>& elements, One&& one) {
  if (is_sequence(object)) return to_elements(object, elements, one);
  T element{};
  if (size == 0 || PyUnicode_Check(object) || !one(object, element)) return false;
  elements.assign(size, element);
  return true;
}

// A list of T.
template <typename T, typename One>
bool to_list(const ValueType& type, PyObject* object, IValue& value, One&& one) {
  std::vector<T> elements;
  if (!to_vector(object, type.list_size, elements, one)) return false;
  if constexpr (std::is_same_v<T, char>) {
    value = IValue::bool_list(std::move(elements));
  } else {
    value = IValue(std::move(elements));
  }
  return true;
}

bool to_tensor(PyObject* object, TensorBase& tensor) {
  if (!is_tensor(object)) return false;
  tensor = tensor_in(object);
  return true;
}

template <typename T>
bool to_list_of_lists(const ValueType& type, PyObject* object, IValue& value, bool (*one)(PyObject*, T&)) {
  return to_list<std::vector<T>>(type, object, value, [&](PyObject* item, std::vector<T>& element) {
    return to_vector(item, type.element_size, element, one);
  });
}

bool to_optional_ints(const ValueType& type, PyObject* object, IValue& value) {
  return to_list<std::optional<std::int64_t>>(type, object, value,
                                              [](PyObject* item, std::optional<std::int64_t>& element) {
                                                element.reset();
                                                return item == Py_None || to_int(item, element.emplace());
                                              });
}

bool to_list(const ValueType& type, PyObject* object, IValue& value) {
  const bool ints = type.kind == TypeKind::Int || type.kind == TypeKind::SymInt;
  if (type.list_elements && ints) return to_list_of_lists<std::int64_t>(type, object, value, to_int);
  if (type.list_elements && type.kind == TypeKind::Tensor)
    return to_list_of_lists<TensorBase>(type, object, value, to_tensor);
  if (type.optional_elements && ints) return to_optional_ints(type, object, value);
  switch (type.kind) {
    case TypeKind::Tensor:
      return to_list<TensorBase>(type, object, value, [&](PyObject* item, TensorBase& tensor) {
        return (type.optional_elements && item == Py_None) || to_tensor(item, tensor);
      });
    case TypeKind::Int:
    case TypeKind::SymInt: return to_list<std::int64_t>(type, object, value, to_int);
    case TypeKind::Float: return to_list<double>(type, object, value, to_double);
    case TypeKind::Scalar: return to_list<Scalar>(type, object, value, to_scalar);
    case TypeKind::Bool:
      return to_list<char>(type, object, value, [](PyObject* item, char& truth) {
        bool is_true = false;
        if (!to_bool(item, is_true)) return false;
        truth = is_true ? 1 : 0;
        return true;
      });
    case TypeKind::Str:
      return to_list<std::string>(type, object, value, [](PyObject* item, std::string& text) {
        if (!PyUnicode_Check(item)) return false;
        text = text_in(item);
        return true;
      });
    case TypeKind::ScalarType:
      return to_list<ScalarType>(type, object, value, [](PyObject* item, ScalarType& dtype) {
        const auto given = dtype_in(item);
        dtype = given.value_or(dtype);
        return given.has_value();
      });
    default: return false;
  }
}

}  // namespace

ValueType::ValueType(SchemaType type) : kind(without_optional(type).kind()), optional(type.is(TypeKind::Optional)) {
  const SchemaType value = without_optional(type);
  if (!value.is(TypeKind::List)) return;
  list = true;
  list_size = value.list_size();
  const SchemaType element = value.element();
  optional_elements = element.is(TypeKind::Optional);
  list_elements = element.is(TypeKind::List);
  element_size = element.list_size();
  kind = (list_elements || optional_elements ? element.element() : element).kind();
}

std::string ValueType::str() const {
  const auto name = [&]() -> std::string {
    switch (kind) {
      case TypeKind::Tensor: return "Tensor";
      case TypeKind::Scalar: return "Number";
      case TypeKind::Int:
      case TypeKind::SymInt: return "int";
      case TypeKind::Float: return "float";
      case TypeKind::Bool: return "bool";
      case TypeKind::Complex: return "complex";
      case TypeKind::Str: return "str";
      case TypeKind::ScalarType: return "keyway.dtype";
      case TypeKind::Layout: return "keyway.layout";
      case TypeKind::MemoryFormat: return "keyway.memory_format";
      case TypeKind::Device: return "keyway.device";
      case TypeKind::Generator: return "keyway.Generator";
      default: return "object";
    }
  }();
  std::string text = optional_elements ? "Optional[" + name + "]" : name;
  if (list_elements) text = "tuple of " + text + "s";
  if (list) text = list_elements ? "tuple of tuples" + text.substr(5) : "tuple of " + text + "s";
  return optional ? "Optional[" + text + "]" : text;
}

bool to_value(const ValueType& type, PyObject* object, IValue& value) {
  if (object == Py_None && type.optional) {
    value = IValue();
    return true;
  }
  return type.list ? to_list(type, object, value) : to_one(type.kind, object, value);
}

std::string misfit(const ValueType& type, PyObject* object) {
  const std::string name = Py_TYPE(object)->tp_name;
  if (!type.list || !is_sequence(object)) return name;
  ValueType element = type;
  element.optional = type.optional_elements;
  element.list = type.list_elements;
  element.list_size = type.element_size;
  element.optional_elements = element.list_elements = false;
  const Py_ssize_t size = PySequence_Size(object);
  if (size < 0) rethrow_python_error();
  for (Py_ssize_t i = 0; i < size; ++i) {
    const nb::object item = checked(PySequence_GetItem(object, i));
    if (IValue value; to_value(element, item.ptr(), value)) continue;
    return name + " with an element of type " + misfit(element, item.ptr()) + " at position " + std::to_string(i);
  }
  return name;
}

bool to_scalar(PyObject* object, Scalar& scalar) {
  if (PyFloat_CheckExact(object)) {
    scalar = Scalar(PyFloat_AS_DOUBLE(object));
  } else if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    scalar = Scalar(std::int64_t{number});
    if (overflow == 0) return true;
    const unsigned long long above = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
    if (PyErr_Occurred() != nullptr) PyErr_Clear(), overflow = -1;
    KEYWAY_CHECK(overflow > 0, "an integer does not fit in 64 bits");
    scalar = Scalar(std::uint64_t{above});
  } else if (PyBool_Check(object)) {
    scalar = Scalar(object == Py_True);
  } else if (is_tensor(object)) {
    if (!is_number_tensor(object)) return false;
    scalar = tensor_in(object).item();
  } else if (PyComplex_Check(object)) {
    scalar = Scalar(complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
  } else if (PyFloat_Check(object)) {
    scalar = Scalar(PyFloat_AS_DOUBLE(object));
  } else if (is_numpy_scalar(object)) {
    return to_scalar_of_numpy(object, scalar);
  } else {
    const nb::object number = is_numpy_array(object) ? nb::object() : index_of(object);
    return number.is_valid() && to_scalar(number.ptr(), scalar);
  }
  return true;
}

nb::object to_object(const Scalar& scalar) {
  if (scalar.is_bool()) return nb::bool_(scalar.to<bool>());
  if (scalar.is_complex()) {
    const auto z = scalar.to<complex<double>>();
    return checked(PyComplex_FromDoubles(z.real(), z.imag()));
  }
  if (scalar.is_floating_point()) return nb::float_(scalar.to<double>());
  if (scalar.type() == kUInt64) return nb::int_(scalar.to<std::uint64_t>());
  return nb::int_(scalar.to<std::int64_t>());
}

namespace {

template <typename List>
nb::object tuple_of(const List& list) {
  nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
  for (std::size_t i = 0; i < list.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), to_object(detail::box(list[i])).release().ptr());
  return tuple;
}

}  // namespace

nb::object to_object(IValue&& value) {
  if (value.is_tensor()) return to_object(std::move(value).to_tensor());
  return to_object(static_cast<const IValue&>(value));
}

nb::object to_object(const IValue& value) {
  switch (value.tag()) {
    case ValueTag::None: return nb::none();
    case ValueTag::Tensor: return to_object(value.to_tensor());
    case ValueTag::Int:
    case ValueTag::Double:
    case ValueTag::Bool:
    case ValueTag::Complex:
    case ValueTag::Uint64: return to_object(value.to_scalar());
    case ValueTag::ScalarType: return to_object(value.to_scalar_type());
    case ValueTag::Layout: return to_object(value.to_layout());
    case ValueTag::MemoryFormat: return to_object(value.to_memory_format());
    case ValueTag::Device: return to_object(value.to_device());
    case ValueTag::String: return to_str(value.to_string_ref());
    case ValueTag::Generator: return nb::cast(value.to_generator());
    case ValueTag::IntList: return tuple_of(value.to_int_list());
    case ValueTag::DoubleList: return tuple_of(value.to_double_list());
    case ValueTag::BoolList: return tuple_of(value.to_bool_list());
    case ValueTag::ScalarList: return tuple_of(value.to_scalar_list());
    case ValueTag::StringList: return tuple_of(value.to_string_list());
    case ValueTag::ScalarTypeList: return tuple_of(value.to_scalar_type_list());
    case ValueTag::OptionalIntList: return tuple_of(value.to_optional_int_list());
    case ValueTag::IntListList: return tuple_of(value.to_int_lists());
    case ValueTag::List: return tuple_of(value.to_list());
    case ValueTag::TensorList: return tuple_of(value.to_tensor_list());
    case ValueTag::TensorListList: return tuple_of(value.to_tensor_lists());
  }
  return nb::none();
}

}  // namespace keyway::inline v1::python
