// Arguments that answer calls of operators themselves: objects of classes that define
// __keyway_function__, which is PyTorch's __torch_function__ under another name.
#pragma once

#include <keyway/python/nanobind.h>
#include <keyway/python/signature.h>
#include <keyway/python/tensor_object.h>

namespace keyway::inline v1::python {

namespace detail {
// Of an object that is no plain tensor: whether it, or an element of a list, has an override. Disabled ones count as
// none.
bool has_override(PyObject* object);
}  // namespace detail

// Whether a call has such arguments. For a plain tensor that is one comparison.
inline bool has_overrides(const CallArguments& given) {
  const std::size_t size = given.positional + given.keyword_count();
  for (std::size_t i = 0; i < size; ++i) {
    if (Py_TYPE(given.values[i]) != tensor_class && detail::has_override(given.values[i])) return true;
  }
  return false;
}

// Whether this thread's calls take no notice of them.
bool overrides_are_disabled();
// Gives what it was before.
bool exchange_overrides_disabled(bool disabled);

// What the arguments answer. Throws keyway::Error if all decline. Requires: has_overrides(given).
nb::object call_overrides(nb::handle function, const CallArguments& given);

}  // namespace keyway::inline v1::python
