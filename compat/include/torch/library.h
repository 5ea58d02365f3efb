// Registration of operators and kernels.
#pragma once

#include <keyway/dispatch/registry/library.h>
#include <keyway/dispatch/registry/register_operators.h>

#include <ATen/core/ivalue.h>
#include <c10/core/DispatchKey.h>

#define TORCH_LIBRARY(ns, m) KEYWAY_LIBRARY(ns, m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) KEYWAY_LIBRARY_FRAGMENT(ns, m)
#define TORCH_LIBRARY_IMPL(ns, key, m) KEYWAY_LIBRARY_IMPL(ns, key, m)
#define TORCH_FN(function) (&function)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

namespace torch {
struct CppFunction {
  static keyway::Fallthrough makeFallthrough() { return {}; }
};
namespace jit {
using RegisterOperators = keyway::RegisterOperators;
using IValue = keyway::IValue;
}  // namespace jit
}  // namespace torch
