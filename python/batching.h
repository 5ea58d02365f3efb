// vmap: what keyway/_transforms/vmap.py and keyway/func.py are made of, as keyway._C._batching has it.
#pragma once

#include <keyway/tensor.h>

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

// Throws keyway::Error(NotImplemented) for a tensor of a single example, which has no memory of its own.
void check_has_memory(const Tensor& tensor, const char* asked);

void add_batching(nanobind::module_& module);

}  // namespace keyway::inline v1::python
