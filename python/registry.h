// What Python sees of the registry: how keyway.ops finds operators, why calls end where they end, plug-ins, snapshots.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

// With all that Python has for people who extend the registry. Requires: add_operators.
void add_registry(nanobind::module_& module);

void add_explain(nanobind::module_& module);
void add_plugins(nanobind::module_& module);
void add_profiler(nanobind::module_& module);

}  // namespace keyway::inline v1::python
