// The tensors among the arguments of a boxed call, and the layouts that they may have.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tensor.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace keyway::inline v1::testing {

// Where a tensor stands: in an argument, and if that is a list, at an index of it.
struct Slot {
  std::size_t argument;
  std::size_t item;
};

// The defined tensors, in order.
std::vector<Slot> slots_of(const Stack& stack);
Tensor tensor_at(const Stack& stack, Slot slot);
// A stack of its own with one tensor replaced.
Stack with_tensor(const Stack& stack, Slot slot, const Tensor& tensor);
// A stack of its own with every tensor replaced by what `change` makes of it.
Stack map_tensors(const Stack& stack, const std::function<Tensor(const Tensor&)>& change);
// The results of a call: tensors and those in lists.
std::vector<Tensor> tensors_in(const Stack& stack);

// Another tensor of the same values in memory of its own: row-major, or as the name says.
enum class Lay { Contiguous, Transposed, Strided };
Tensor laid(const Tensor& tensor, Lay lay);
// The first index of a dimension, expanded to its size: other values, and elements that share memory.
Tensor expanded(const Tensor& tensor, std::int64_t dim);
// The same memory layout on Meta, where there is no memory.
Tensor on_meta(const Tensor& tensor);
// The arguments with tensors, and what says the device, on Meta.
Stack on_meta(const FunctionSchema& schema, const Stack& stack);

}  // namespace keyway::inline v1::testing
