#include <keyway/core/base/error.h>
#include <keyway/ops/indexing/get_item.h>
#include <keyway/python/errors.h>
#include <keyway/python/function_overrides.h>
#include <keyway/python/index_items.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_method.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

#include <array>

namespace keyway::inline v1::python {
namespace {

// What a subclass of Tensor answers to `self[...]` if it has an override: a new reference; null if none has.
template <MethodName name, typename... Arguments>
nb::object overridden(Arguments*... arguments) {
  PyObject* const values[] = {arguments...};
  const CallArguments given{values, sizeof...(arguments), nullptr};
  if (!has_overrides(given)) return {};
  return call_overrides(tensor_method<name>(), given);
}

nb::object get_item(PyObject* self, PyObject* index) {
  if (Py_TYPE(self) != tensor_class) {
    if (nb::object answer = overridden<"__getitem__">(self, index); answer.is_valid()) return answer;
  }
  const Tensor tensor = tensor_in(self);
  IndexItems items;
  read_index(index, items);
  return to_object(unlocked([&] { return indexing::get_item(tensor, items); }));
}

void set_item(PyObject* self, PyObject* index, PyObject* value) {
  KEYWAY_CHECK_AS(Type, value != nullptr, "elements of a Tensor cannot be deleted");
  if (Py_TYPE(self) != tensor_class && overridden<"__setitem__">(self, index, value).is_valid()) return;
  const Tensor tensor = tensor_in(self);
  IndexItems items;
  if (index == Py_False) return;
  if (index == Py_True) {
    items.push_back(indexing::None);  // converts what is assigned, which elements of an index would not
  } else {
    read_index(index, items);
  }
  const Tensor source = is_tensor(value) ? tensor_in(value) : Tensor();
  Scalar number;
  KEYWAY_CHECK_AS(Type, source.defined() || to_scalar(value, number),
                  "elements of a Tensor are set to a number or to a Tensor, not to a {}", class_name(value));
  const LockReleased unlocked;
  if (source.defined()) {
    indexing::set_item(tensor, items, source);
  } else {
    indexing::set_item(tensor, items, number);
  }
}

}  // namespace

std::span<const PyType_Slot> indexing_slots() {
  static const std::array slots = {type_slot<guarded<get_item>>(Py_mp_subscript),
                                   type_slot<guarded<set_item>>(Py_mp_ass_subscript)};
  return slots;
}

}  // namespace keyway::inline v1::python
