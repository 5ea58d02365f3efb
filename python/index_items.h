// IndexItems: what stands between the brackets of x[...], read off Python's objects; no tensor has been touched yet.
#pragma once

#include <keyway/core/base/inline_vector.h>
#include <keyway/ops/indexing/tensor_index.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

using IndexItems = InlineVector<indexing::TensorIndex, 6>;

// One item, or those of a tuple; also of a list, if it holds anything but numbers, as PyTorch has it until that becomes
// an index tensor as in NumPy: it warns. Errors: Index, for what is no index; Value, for steps that are not positive.
void read_index(PyObject* index, IndexItems& items);

}  // namespace keyway::inline v1::python
