#include <keyway/core/base/error.h>
#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/call/boxing.h>
#include <keyway/python/custom_classes.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/numpy_classes.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>
#include <keyway/python/tuples.h>
#include <keyway/python/values.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

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

// What `object` stands for, as a value of each class; false if it is of another type.

// An integer of Python, of NumPy, or a tensor of one. No bool.
bool convert(PyObject* object, std::int64_t& value) {
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
  return number.is_valid() && convert(number.ptr(), value);
}

// A real number; unlike for an integer, a bool counts as 0 or 1, and an int may be beyond 64 bits.
bool convert(PyObject* object, double& value) {
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

bool convert(PyObject* object, bool& value) {
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
bool convert_named(std::optional<T> named, T& value) {
  value = named.value_or(value);
  return named.has_value();
}
bool convert(PyObject* object, TensorBase& value) {
  if (!is_tensor(object)) return false;
  value = tensor_in(object);
  return true;
}
bool convert(PyObject* object, Scalar& value) { return to_scalar(object, value); }
bool convert(PyObject* object, complex<double>& value) {
  Scalar scalar;
  if (!to_scalar(object, scalar)) return false;
  value = scalar.to<complex<double>>();
  return true;
}
bool convert(PyObject* object, std::string& value) {
  if (!PyUnicode_Check(object)) return false;
  value = text_in(object);
  return true;
}
bool convert(PyObject* object, ScalarType& value) { return convert_named(dtype_in(object), value); }
bool convert(PyObject* object, Layout& value) { return convert_named(layout_in(object), value); }
bool convert(PyObject* object, MemoryFormat& value) { return convert_named(memory_format_in(object), value); }
bool convert(PyObject* object, Device& value) { return convert_named(device_in(object), value); }
bool convert(PyObject* object, CustomObject& value) { return nb::try_cast(nb::handle(object), value); }
bool convert(PyObject* object, Generator& value) { return nb::try_cast(nb::handle(object), value); }

// A value to convert to.
template <typename T>
T blank() {
  if constexpr (std::is_same_v<T, Generator>) {
    return Generator(nullptr);
  } else if constexpr (std::is_same_v<T, Device>) {
    return Device(kCPU);
  } else {
    return T{};
  }
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

// As convert, of values that are lists, have elements that may be None, or are neither. `depth`: in how many lists of
// the type it stands.
template <typename T>
bool convert_as(const ValueType& type, int depth, PyObject* object, T& value) {
  if constexpr (detail::kIsVector<T>) {
    using Element = typename T::value_type;
    const auto add = [&](PyObject* item) {
      Element element = blank<Element>();
      if (!convert_as(type, depth + 1, item, element)) return false;
      value.push_back(std::move(element));
      return true;
    };
    if (is_sequence(object)) {
      const Py_ssize_t size = PySequence_Size(object);
      if (size < 0) rethrow_python_error();
      value.reserve(static_cast<std::size_t>(std::min<Py_ssize_t>(size, 64)));  // a length is only what an object says
      for (Py_ssize_t i = 0; i < size; ++i)
        if (!add(checked(PySequence_GetItem(object, i)).ptr())) return false;
      return true;
    }
    // One value stands for as many as the type says. A str is a sequence to Python, and no list of one here.
    const std::size_t size = depth == 0 ? type.list_size : type.element_size;
    if (size == 0 || PyUnicode_Check(object) || !add(object)) return false;
    value.assign(size, Element(value.front()));
    return true;
  } else if constexpr (detail::kIsOptional<T>) {
    return object == Py_None || convert(object, value.emplace());
  } else {
    const bool absent = std::is_same_v<T, TensorBase> && depth > 0 && type.optional_elements && object == Py_None;
    return absent || convert(object, value);
  }
}

// Calls use(key, value) until one is false. They are those of a copy, as converting an object may run Python code that
// changes the dictionary.
template <typename Use>
bool all_entries(PyObject* dict, Use use) {
  const nb::object copy = nb::steal(PyDict_Copy(dict));
  if (!copy.is_valid()) rethrow_python_error();
  PyObject *key, *value;
  for (Py_ssize_t place = 0; PyDict_Next(copy.ptr(), &place, &key, &value) != 0;) {
    if (!use(key, value)) return false;
  }
  return true;
}

// Whether the objects in a value, if it has any, are of the class.
bool are_of_class(const IValue& value, const std::string& class_name) {
  if (value.is(ValueTag::Object)) return value.to_object().is_of(class_name);
  return value.tag() != detail::kTagOf<std::vector<CustomObject>> ||
         std::ranges::all_of(value.to_list_of<CustomObject>(),
                             [&](const CustomObject& object) { return object.is_of(class_name); });
}

bool to_dict(const DictType& type, PyObject* object, IValue& value) {
  if (!PyDict_Check(object)) return false;
  const GenericDict dict;
  value = dict;
  return all_entries(object, [&](PyObject* given_key, PyObject* given_value) {
    IValue key, item;
    if (!to_value(type.key, given_key, key) || !to_value(type.value, given_value, item)) return false;
    dict.insert(std::move(key), std::move(item), /*assign=*/true);
    return true;
  });
}

}  // namespace

ValueType::ValueType(SchemaType type) : kind(without_optional(type).kind()), optional(type.is(TypeKind::Optional)) {
  const SchemaType value = without_optional(type);
  if (std::string code; append_code(code, value)) tag = code == "W" ? ValueTag::Tensor : detail::tag_of_code(code);
  if (value.is(TypeKind::Dict) && tag != ValueTag::None) {
    const SchemaType::Parts parts = value.parts();
    dict = std::make_shared<DictType>(DictType{ValueType(*parts.begin()), ValueType(*std::next(parts.begin()))});
  }
  if (kind == TypeKind::Class) class_name = value.class_name();
  if (!value.is(TypeKind::List)) return;
  list = true;
  list_size = value.list_size();
  const SchemaType element = value.element();
  optional_elements = element.is(TypeKind::Optional);
  list_elements = element.is(TypeKind::List) || element.is(TypeKind::Tuple);
  element_size = element.list_size();
  const SchemaType innermost = list_elements || optional_elements ? element.element() : element;
  kind = innermost.kind();
  if (kind == TypeKind::Class) class_name = innermost.class_name();
}

std::string ValueType::str() const {
  const detail::NamedType* const named = detail::find_named_type(kind);
  std::string name(kind == TypeKind::Device ? "device" : named == nullptr ? "object" : named->python);
  if (named != nullptr && kind >= TypeKind::ScalarType) name = "keyway." + name;  // Python has no such type itself
  if (kind == TypeKind::Class) name = class_name;
  if (dict) name = "dict of " + dict->key.str() + " to " + dict->value.str();
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
  if (type.dict) return to_dict(*type.dict, object, value);
  bool fits = false;
  detail::visit_value_class(type.tag, [&]<typename T>() {
    T converted = blank<T>();
    fits = convert_as(type, 0, object, converted);
    if (fits) value = IValue(std::move(converted));
  });
  return fits && (type.class_name.empty() || are_of_class(value, type.class_name));
}

static std::string misfit_in_dict(const DictType& type, PyObject* object) {
  std::string text = "dict";
  all_entries(object, [&](PyObject* key, PyObject* value) {
    IValue converted;
    if (!to_value(type.key, key, converted)) {
      text += " with a key of type " + misfit(type.key, key);
    } else if (!to_value(type.value, value, converted)) {
      text += " with a value of type " + misfit(type.value, value);
    }
    return text == "dict";
  });
  return text;
}

std::string misfit(const ValueType& type, PyObject* object) {
  CustomObject custom;
  const std::string name = convert(object, custom) ? custom.class_name() : class_name(object);
  if (type.dict && PyDict_Check(object)) return misfit_in_dict(*type.dict, object);
  if (!type.list || !is_sequence(object)) return name;
  ValueType element = type;
  element.tag = detail::element_of(type.tag);
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

nb::object to_object(IValue&& value) {
  if (value.is_tensor()) return to_object(std::move(value).to_tensor());
  return to_object(static_cast<const IValue&>(value));
}

static nb::object to_object(const GenericDict& dict) {
  nb::dict made;
  for (std::size_t i = 0; i < dict.size(); ++i) made[to_object(dict.entry(i).key)] = to_object(dict.entry(i).value);
  return made;
}

nb::object to_object(const IValue& value) {
  const auto tuple_of_list = [](const auto& list) {
    return tuple_of(list.size(), [&](std::size_t i) { return to_object(detail::box(list[i])); });
  };
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
    case ValueTag::Object: return to_object(value.to_object());
    case ValueTag::Dict: return to_object(value.to_dict());
    case ValueTag::List: return tuple_of_list(value.to_list_of<IValue>());
    default: break;
  }
  nb::object tuple = nb::none();
  detail::visit_value_class(value.tag(), [&]<typename T>() {
    if constexpr (detail::kIsVector<T>) tuple = tuple_of_list(value.to_list_of<typename T::value_type>());
  });
  return tuple;
}

}  // namespace keyway::inline v1::python
