// IndexItems: what stands between the brackets of x[...], read off Python's objects; no tensor has been touched yet.
#pragma once

#include <keyway/core/base/inline_vector.h>
#include <keyway/python/nanobind.h>
#include <keyway/tensor.h>

#include <cstdint>

namespace keyway::inline v1::python {

struct IndexItem {
  enum class Kind : std::uint8_t { Integer, Slice, NewAxis, Ellipsis, Truth, Elements };
  Kind kind;
  std::int64_t start = 0;  // the integer, the truth, or where the slice begins
  std::int64_t stop = 0;
  std::int64_t step = 1;
  Tensor elements = {};  // a tensor of integers, or a mask
};
using IndexItems = InlineVector<IndexItem, 6>;

// One item, or those of a tuple; also of a list, if it holds anything but numbers, as PyTorch has it until that becomes
// an index tensor as in NumPy: it warns. Errors: Index, for what is no index; Value, for steps that are not positive.
void read_index(PyObject* index, IndexItems& items);

}  // namespace keyway::inline v1::python
