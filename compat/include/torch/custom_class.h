// Classes that a library registers: torch::class_, in a block and by itself.
#pragma once

#include <keyway/dispatch/registry/class_builder.h>

#include <c10/util/intrusive_ptr.h>
#include <torch/library.h>
#include <utility>

namespace torch {

template <typename T>
using class_ = keyway::ClassBuilder<T>;
using arg = keyway::MethodArgument;

// The constructor for def(): of the class itself, or a function that returns c10::intrusive_ptr.
template <typename... A>
auto init() {
  return keyway::constructor<A...>();
}
template <typename F>
auto init(F make) {
  return keyway::constructor(std::move(make));
}

// A new object as an operator takes it.
template <typename T, typename... A>
keyway::IValue make_custom_class(A&&... arguments) {
  return keyway::make_intrusive<T>(std::forward<A>(arguments)...);
}
inline bool isCustomClass(const keyway::IValue& value) { return value.isCustomClass(); }

namespace jit {
using keyway::CustomClassHolder;
}  // namespace jit
}  // namespace torch
