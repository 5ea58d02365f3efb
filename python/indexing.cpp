#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>
#include <keyway/python/errors.h>
#include <keyway/python/function_overrides.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/selection.h>
#include <keyway/python/tensor_method.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

#include <algorithm>
#include <array>
#include <optional>

namespace keyway::inline v1::python {
namespace {

// The elements that index tensors name. Whatever is wrong with those, an index out of range or shapes that do not fit,
// is an error of the index.
Tensor named_elements(const Selection& picked) {
  try {
    return picked.view.index(picked.indices);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Value) throw;
    throw Error(ErrorKind::Index, error.what(), error.file(), error.line());
  }
}

void set_named_elements(const Selection& picked, const Tensor& value) {
  try {
    picked.view.index_put_(picked.indices, value);
  } catch (const Error&) {
    (void)named_elements(picked);  // throws if it is not the value that is wrong
    throw;
  }
}

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
  return to_object(unlocked([&] {
    const Selection picked = select_items(tensor, items);
    return picked.indices.empty() ? picked.view : named_elements(picked);
  }));
}

// A number fills what is picked; the whole of a mask at once.
void assign_number(const Selection& picked, const Scalar& value) {
  const Tensor& view = picked.view;
  if (picked.indices.empty()) {
    view.fill_(value);
    return;
  }
  const Tensor& first = *picked.indices[0];
  if (picked.indices.size() == 1 && first.defined() && first.dtype() == kBool && first.sizes() == view.sizes()) {
    view.masked_fill_(first, value);
    return;
  }
  set_named_elements(picked, full({}, value, view.options()));
}

// A tensor is broadcast to what is picked; leading dimensions of size 1 do not count.
void assign_tensor(const Selection& picked, Tensor value) {
  while (value.dim() > 0 && value.sizes()[0] == 1) value = value.squeeze(0);
  const Tensor& view = picked.view;
  if (picked.indices.empty()) {
    view.copy_(value);
    return;
  }
  // PyTorch fills what masks pick, so that one element may be of another dtype.
  const bool fills = std::ranges::all_of(picked.indices, [](const std::optional<Tensor>& index) {
    return !index || !index->defined() || index->dtype() == kBool;
  });
  if (fills && value.dim() == 0 && !is_complex(value.dtype())) value = value.to(view.dtype());
  if (value.dim() == 0 && value.device() != view.device()) value = value.to(TensorOptions().device(view.device()));
  set_named_elements(picked, value);
}

void set_item(PyObject* self, PyObject* index, PyObject* value) {
  KEYWAY_CHECK_AS(Type, value != nullptr, "elements of a Tensor cannot be deleted");
  if (Py_TYPE(self) != tensor_class && overridden<"__setitem__">(self, index, value).is_valid()) return;
  const Tensor tensor = tensor_in(self);
  IndexItems items;
  if (index == Py_False) return;
  if (index == Py_True) {
    items.push_back({IndexItem::Kind::NewAxis});  // converts what is assigned, which elements of an index would not
  } else {
    read_index(index, items);
  }
  const Tensor source = is_tensor(value) ? tensor_in(value) : Tensor();
  Scalar number;
  KEYWAY_CHECK_AS(Type, source.defined() || to_scalar(value, number),
                  "elements of a Tensor are set to a number or to a Tensor, not to a {}", class_name(value));
  const LockReleased unlocked;
  const Selection picked = select_items(tensor, items);
  if (source.defined()) {
    assign_tensor(picked, source);
  } else {
    assign_number(picked, number);
  }
}

}  // namespace

std::span<const PyType_Slot> indexing_slots() {
  static const std::array slots = {type_slot<guarded<get_item>>(Py_mp_subscript),
                                   type_slot<guarded<set_item>>(Py_mp_ass_subscript)};
  return slots;
}

}  // namespace keyway::inline v1::python
