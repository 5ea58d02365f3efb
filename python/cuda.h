// CUDA: what keyway.cuda is made of: devices, streams, events, graphs, and the cache of the devices' memory.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_cuda(nanobind::module_& module);

}  // namespace keyway::inline v1::python
