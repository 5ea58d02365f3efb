// Operands: the tensors of an operator, and what its kernels take.
#pragma once

#include <keyway/codegen/model/dim_arguments.h>
#include <keyway/codegen/model/model.h>
#include <keyway/codegen/model/wrapper_kind.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

struct TensorArgument {
  std::string name;
  bool list = false;
  bool optional = false;  // an undefined tensor, or undefined ones in a list, may be given
  bool written = false;
};
std::vector<TensorArgument> tensor_arguments(const Op& op);

// Whether an argument says what a result is to be, and so has done its part before the kernel: dtype, and
// where all four are there layout, device, pin_memory and memory_format.
bool describes_result(const Op& op, std::string_view argument);

// Whether the schema has an argument `dtype` that may be absent.
bool has_dtype_argument(const Op& op);

// Which dimensions a reduction is over, by its contracts, and whether they stay with one element each: a bool. Empty
// where the operator has no such argument, and of other operators.
struct ReducedDims {
  std::string dims;
  std::string keepdim;
};
ReducedDims reduced_dims(const Op& op);

// The declared parameters of a backend's function, outputs last: "const TensorBase& self", ..., "TensorBase&
// out". The argument `unread` has no name there.
std::vector<std::string> kernel_parameters(const Op& op, std::string_view unread = {});
// "void", or what the function returns.
std::string kernel_result(const Op& op);

// The names of the results in generated code: the arguments of the out= overload, or by default out, out0,
// ...
std::vector<std::string> result_variables(const Op& op);

}  // namespace keyway::inline v1
