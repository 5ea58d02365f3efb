// Counted pointers, and the base of what they point to.
#pragma once

#include <keyway/core/base/custom_class_holder.h>
#include <keyway/core/base/intrusive_ptr.h>

#include <keyway_compat/namespaces.h>

namespace c10 {
using intrusive_ptr_target = keyway::CustomClassHolder;

template <typename To, typename From>
intrusive_ptr<To> static_intrusive_pointer_cast(const intrusive_ptr<From>& from) {
  return intrusive_ptr<To>::retain(static_cast<To*>(from.get()));
}
// Null if it is of another class.
template <typename To, typename From>
intrusive_ptr<To> dynamic_intrusive_pointer_cast(const intrusive_ptr<From>& from) {
  return intrusive_ptr<To>::retain(dynamic_cast<To*>(from.get()));
}
}  // namespace c10
