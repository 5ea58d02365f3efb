#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/python/size.h>

namespace keyway::inline v1::python {
namespace {

PyTypeObject* size_class = nullptr;

PyObject* repr(PyObject* self) {
  const nb::object list = nb::steal(PySequence_List(self));
  return list.is_valid() ? PyUnicode_FromFormat("keyway.Size(%R)", list.ptr()) : nullptr;
}

nb::object numel(PyObject* self, PyObject*) {
  nb::object product = nb::int_(1);
  for (const nb::handle size : nb::borrow<nb::tuple>(self)) product = product * size;
  return product;
}

// What a tuple does gives a tuple; of sizes, these are sizes again.
PyObject* as_size(PyObject* made) {
  nb::object tuple = nb::steal(made);
  if (!tuple.is_valid() || !PyTuple_Check(tuple.ptr())) return tuple.release().ptr();
  return PyObject_CallOneArg(reinterpret_cast<PyObject*>(size_class), tuple.ptr());
}
PyObject* concatenate(PyObject* self, PyObject* other) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(self, other));
}
// Also of a tuple and a Size, which the tuple would make a tuple of.
PyObject* add(PyObject* left, PyObject* right) {
  return PyTuple_Check(left) && PyTuple_Check(right) ? concatenate(left, right) : Py_NewRef(Py_NotImplemented);
}
PyObject* repeat(PyObject* self, Py_ssize_t times) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, times));
}
PyObject* get_item(PyObject* self, PyObject* index) {
  return as_size(PyTuple_Type.tp_as_mapping->mp_subscript(self, index));
}

// Sizes are integers, and what counts as one, such as a tensor of one, is made an int.
PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  nb::object sizes = nb::steal(PyTuple_Type.tp_new(type, arguments, keywords));
  for (Py_ssize_t i = 0; sizes.is_valid() && i < PyTuple_GET_SIZE(sizes.ptr()); ++i) {
    PyObject* const size = PyTuple_GET_ITEM(sizes.ptr(), i);
    if (PyLong_CheckExact(size)) continue;
    PyObject* const number = PyNumber_Index(size);
    if (number == nullptr) return nullptr;
    PyTuple_SET_ITEM(sizes.ptr(), i, number);
    Py_DECREF(size);
  }
  return sizes.release().ptr();
}

PyMethodDef methods[] = {
    {"numel", guarded<numel>, METH_NOARGS, "The number of elements of a tensor of these sizes."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(repr)},
    {Py_tp_methods, methods},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_nb_add, reinterpret_cast<void*>(add)},
    {Py_sq_concat, reinterpret_cast<void*>(concatenate)},
    {Py_sq_repeat, reinterpret_cast<void*>(repeat)},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_tp_doc, const_cast<char*>("The sizes of a tensor: a tuple of integers.")},
    {0, nullptr},
};
PyType_Spec spec = {"keyway.Size", 0, 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

void add_size_class(nb::module_& module) {
  const nb::object bases = checked(PyTuple_Pack(1, &PyTuple_Type));
  nb::object type = checked(PyType_FromSpecWithBases(&spec, bases.ptr()));
  size_class = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("Size") = type;
  (void)type.release();  // as long as the program
}

nb::object to_size(IntArrayRef sizes) {
  nb::object tuple = checked(size_class->tp_alloc(size_class, static_cast<Py_ssize_t>(sizes.size())));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), nb::int_(sizes[i]).release().ptr());
  return tuple;
}

}  // namespace keyway::inline v1::python
