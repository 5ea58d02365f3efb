// Checks of the tensors that a kernel is given. Each throws a keyway::Error that names the function, the argument and
// what the argument has to be. PyTorch's <ATen/TensorUtils.h> has the same names.
//
//   const TensorArg x(self, "self", 1), y(other, "other", 2);
//   checkAllSameType("my_op", {x, y});
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/macros.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1 {

// A tensor with the name and the place, from 1, that it has among a function's arguments. Keeps no tensor alive.
struct TensorArg {
  const TensorBase& tensor;
  const char* name;
  int pos;

  TensorArg(const TensorBase& argument, const char* argument_name, int position)
      : tensor(argument), name(argument_name), pos(position) {}
  TensorArg(TensorBase&&, const char*, int) = delete;
  const TensorBase* operator->() const { return &tensor; }
  const TensorBase& operator*() const { return tensor; }
};

// The name of the function that checks.
using CheckedFrom = const char*;

KEYWAY_API void checkDefined(CheckedFrom from, const TensorArg& arg);
KEYWAY_API void checkAllDefined(CheckedFrom from, ArrayRef<TensorArg> args);
KEYWAY_API void checkContiguous(CheckedFrom from, const TensorArg& arg);
KEYWAY_API void checkAllContiguous(CheckedFrom from, ArrayRef<TensorArg> args);  // leaves undefined ones out

KEYWAY_API void checkDim(CheckedFrom from, const TensorArg& arg, std::int64_t dim);
// From `first` to one before `end` dimensions.
KEYWAY_API void checkDimRange(CheckedFrom from, const TensorArg& arg, std::int64_t first, std::int64_t end);
KEYWAY_API void checkSameDim(CheckedFrom from, const TensorArg& a, const TensorArg& b);
KEYWAY_API void checkSize(CheckedFrom from, const TensorArg& arg, IntArrayRef sizes);
KEYWAY_API void checkSize(CheckedFrom from, const TensorArg& arg, std::int64_t dim, std::int64_t size);
KEYWAY_API void checkSameSize(CheckedFrom from, const TensorArg& a, const TensorArg& b);
KEYWAY_API void checkAllSameSize(CheckedFrom from, ArrayRef<TensorArg> args);
KEYWAY_API void checkNumel(CheckedFrom from, const TensorArg& arg, std::int64_t numel);
KEYWAY_API void checkSameNumel(CheckedFrom from, const TensorArg& a, const TensorArg& b);
KEYWAY_API void checkAllSameNumel(CheckedFrom from, ArrayRef<TensorArg> args);

KEYWAY_API void checkScalarType(CheckedFrom from, const TensorArg& arg, ScalarType dtype);
KEYWAY_API void checkScalarTypes(CheckedFrom from, const TensorArg& arg, ArrayRef<ScalarType> dtypes);
KEYWAY_API void checkSameType(CheckedFrom from, const TensorArg& a, const TensorArg& b);
KEYWAY_API void checkAllSameType(CheckedFrom from, ArrayRef<TensorArg> args);
// On one and the same CUDA device.
KEYWAY_API void checkSameGPU(CheckedFrom from, const TensorArg& a, const TensorArg& b);
KEYWAY_API void checkAllSameGPU(CheckedFrom from, ArrayRef<TensorArg> args);

}  // namespace keyway::inline v1
