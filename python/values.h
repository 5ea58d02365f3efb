// Values: between Python objects and the IValues of boxed calls.
#pragma once

#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/ivalue.h>
#include <keyway/python/nanobind.h>

#include <memory>
#include <string>

namespace keyway::inline v1::python {

struct DictType;

// What a parameter takes, read off its schema type once.
struct ValueType {
  explicit ValueType(SchemaType type);

  ValueTag tag = ValueTag::None;  // of the value, which may be left out if `optional`; None if there is no such value
  TypeKind kind;                  // of the elements of a list, and of the lists in it
  bool optional = false;
  bool list = false;
  bool optional_elements = false;
  bool list_elements = false;
  std::size_t list_size = 0;             // T[N]: one value stands for N of them
  std::size_t element_size = 0;          // the same, of lists that are elements
  std::string class_name;                // of objects of a registered class: "my.Foo"
  std::shared_ptr<const DictType> dict;  // of a dictionary, its keys and values

  bool is_int_list() const {
    return list && !list_elements && !optional_elements && (kind == TypeKind::Int || kind == TypeKind::SymInt);
  }
  // As Python would write it: "Tensor", "tuple of ints", "Optional[Number]".
  std::string str() const;
};

struct DictType {
  ValueType key, value;
};

// Gives `value` what `object` stands for; false, and no Python error, if that is of another type. None is the value of
// an optional parameter that is left out. Throw keyway::Error, or the Python error of what was asked of the object.
bool to_value(const ValueType& type, PyObject* object, IValue& value);

// Of an object that is no value of the type: "list", or where one is the wrong element of a list, "list with an element
// of type int at position 1".
std::string misfit(const ValueType& type, PyObject* object);

// A number; false if it is none. Tensors of one element without dimensions count as one.
bool to_scalar(PyObject* object, Scalar& scalar);

// The Python object of a value: a list of tensors is a tuple, nothing and an undefined tensor are None.
nb::object to_object(const IValue& value);
nb::object to_object(IValue&& value);
nb::object to_object(const Scalar& scalar);

}  // namespace keyway::inline v1::python
