#include <keyway/core/base/error.h>
#include <keyway/python/arrays.h>
#include <keyway/python/errors.h>
#include <keyway/python/function_overrides.h>
#include <keyway/python/module.h>
#include <keyway/python/numpy_classes.h>
#include <keyway/python/tensor_method.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

#include <array>
#include <cstdint>

namespace keyway::inline v1::python {
namespace {

// What an operator takes besides tensors: Python's numbers, what counts as one, and objects that answer themselves.
bool is_operand(PyObject* object) {
  if (is_tensor(object) || PyFloat_CheckExact(object) || PyLong_Check(object)) return true;
  Scalar number;
  return to_scalar(object, number) || detail::has_override(object);
}

// `x op y` with the tensor on the left.
template <MethodName name>
PyObject* forward(PyObject* self, PyObject* other) {
  return is_operand(other) ? call_method<name>(self, other) : Py_NewRef(Py_NotImplemented);
}

// With the number on the left: what commutes changes places; others are the function, which takes a number where a
// method has its tensor.
enum class Reflected { Swapped, AsIs, None };

template <MethodName name>
PyObject* reflect(PyObject* number, PyObject* self) {
  if (!is_operand(number)) return Py_NewRef(Py_NotImplemented);
  PyObject* const values[] = {number, self};
  return PyObject_Vectorcall(operator_function<name>(), values, 2, nullptr);
}

template <MethodName name, Reflected reflected>
PyObject* binary(PyObject* left, PyObject* right) {
  if (is_tensor(left)) return forward<name>(left, right);
  if constexpr (reflected == Reflected::Swapped) {
    return forward<name>(right, left);
  } else if constexpr (reflected == Reflected::AsIs) {
    return reflect<name>(left, right);
  } else {
    return Py_NewRef(Py_NotImplemented);
  }
}

// PyTorch's `2 / x` is the reciprocal of x times 2, not rounded as a quotient. NumPy multiplies arrays with tensors.
PyObject* divide(PyObject* left, PyObject* right) {
  if (is_tensor(left)) return forward<"div">(left, right);
  if (!is_operand(left) && !is_numpy_array(left)) return Py_NewRef(Py_NotImplemented);
  const nb::object reciprocal = checked(call_method<"reciprocal">(right));
  return PyNumber_Multiply(reciprocal.ptr(), left);
}

// The third argument of pow() is a modulus, which tensors do not have.
template <auto function>
PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  return modulus == Py_None ? function(base, exponent) : Py_NewRef(Py_NotImplemented);
}

template <MethodName name>
PyObject* unary(PyObject* self) {
  return call_method<name>(self);
}

PyObject* positive(PyObject* self) {
  KEYWAY_CHECK_AS(Type, tensor_in(self).dtype() != kBool, "the operator + is not there for bool tensors");
  return Py_NewRef(self);
}

// Whether they are equal, element by element, an array of NumPy may ask too.
template <MethodName name>
PyObject* compare_equal(PyObject* self, PyObject* other) {
  if (!is_numpy_array(other)) return forward<name>(self, other);
  return call_method<name>(self, to_object(tensor_of_array(other).tensor).ptr());
}

PyObject* compare(PyObject* self, PyObject* other, int op) {
  switch (op) {
    case Py_LT: return forward<"lt">(self, other);
    case Py_LE: return forward<"le">(self, other);
    case Py_EQ: return compare_equal<"eq">(self, other);
    case Py_NE: return compare_equal<"ne">(self, other);
    case Py_GT: return forward<"gt">(self, other);
    default: return forward<"ge">(self, other);
  }
}

// Tensors are equal element by element, so their hash is that of the object.
Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self)); }

}  // namespace

std::span<const PyType_Slot> number_slots() {
  static const std::array slots = {
      type_slot<guarded<binary<"add", Reflected::Swapped>>>(Py_nb_add),
      type_slot<guarded<binary<"sub", Reflected::AsIs>>>(Py_nb_subtract),
      type_slot<guarded<binary<"mul", Reflected::Swapped>>>(Py_nb_multiply),
      type_slot<guarded<binary<"floor_divide", Reflected::AsIs>>>(Py_nb_floor_divide),
      type_slot<guarded<binary<"remainder", Reflected::AsIs>>>(Py_nb_remainder),
      type_slot<guarded<binary<"bitwise_and", Reflected::Swapped>>>(Py_nb_and),
      type_slot<guarded<binary<"bitwise_or", Reflected::Swapped>>>(Py_nb_or),
      type_slot<guarded<binary<"bitwise_xor", Reflected::Swapped>>>(Py_nb_xor),
      type_slot<guarded<binary<"bitwise_left_shift", Reflected::AsIs>>>(Py_nb_lshift),
      type_slot<guarded<binary<"bitwise_right_shift", Reflected::AsIs>>>(Py_nb_rshift),
      type_slot<guarded<binary<"matmul", Reflected::None>>>(Py_nb_matrix_multiply),
      type_slot<guarded<divide>>(Py_nb_true_divide),
      type_slot<guarded<power<binary<"pow", Reflected::AsIs>>>>(Py_nb_power),
      type_slot<guarded<unary<"neg">>>(Py_nb_negative),
      type_slot<guarded<unary<"abs">>>(Py_nb_absolute),
      type_slot<guarded<unary<"bitwise_not">>>(Py_nb_invert),
      type_slot<guarded<positive>>(Py_nb_positive),
      type_slot<guarded<forward<"add_">>>(Py_nb_inplace_add),
      type_slot<guarded<forward<"sub_">>>(Py_nb_inplace_subtract),
      type_slot<guarded<forward<"mul_">>>(Py_nb_inplace_multiply),
      type_slot<guarded<forward<"div_">>>(Py_nb_inplace_true_divide),
      type_slot<guarded<forward<"floor_divide_">>>(Py_nb_inplace_floor_divide),
      type_slot<guarded<forward<"remainder_">>>(Py_nb_inplace_remainder),
      type_slot<guarded<power<forward<"pow_">>>>(Py_nb_inplace_power),
      type_slot<guarded<forward<"bitwise_and_">>>(Py_nb_inplace_and),
      type_slot<guarded<forward<"bitwise_or_">>>(Py_nb_inplace_or),
      type_slot<guarded<forward<"bitwise_xor_">>>(Py_nb_inplace_xor),
      type_slot<guarded<forward<"bitwise_left_shift_">>>(Py_nb_inplace_lshift),
      type_slot<guarded<forward<"bitwise_right_shift_">>>(Py_nb_inplace_rshift),
      type_slot<guarded<compare>>(Py_tp_richcompare),
      type_slot<hash>(Py_tp_hash),
  };
  return slots;
}

}  // namespace keyway::inline v1::python
