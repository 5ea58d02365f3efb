// Dtype rules as C++: what a guard checks of the dtypes of arguments, and what dtypes the results have.
#pragma once

#include <keyway/codegen/emit/doc.h>
#include <keyway/codegen/model/model.h>

#include <string>
#include <vector>

namespace keyway::inline v1 {

struct DTypePlan {
  std::vector<Doc> statements;        // of the guard: they fill plan.common and plan.dtype
  std::vector<std::string> promoted;  // the tensors that kernels get cast to plan.common
  std::vector<std::string> numbers;   // that promote as tensors do: they cannot be left out
  bool compares = false;              // whether the operands are compared: assembly/comparands.h casts them
  bool to_float = false;              // whether integers become floats
  std::string loop_tensor;            // whose dtype the functor of a loop is instantiated for
  Doc loop_types;                     // a DtypeSet: what it may be
};
DTypePlan dtype_plan(const Op& op);

}  // namespace keyway::inline v1
