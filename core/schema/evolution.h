// Schema evolution: whether calls that were written for one schema of an operator mean the same with another.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/schema/schema.h>

#include <string>
#include <vector>

namespace keyway::inline v1 {

struct SchemaCompatibility {
  // Why calls written for the schema before fail, or mean something else, with the one after. Empty: backward
  // compatible.
  std::vector<std::string> backward;
  // The same of calls written for the one after, made where there is the one before, that leave what is new at its
  // default. Empty: forward compatible.
  std::vector<std::string> forward;

  bool is_backward() const { return backward.empty(); }
  bool is_forward() const { return forward.empty(); }
};

KEYWAY_API SchemaCompatibility compare_schemas(FunctionSchema before, FunctionSchema after);

// For people, what differs in two schemas of one name: a reason, and both texts with the first difference marked.
//
//   argument 'alpha' is 2 by default, not 1
//         there  my::add(Tensor self, Scalar alpha=1) -> Tensor
//         here   my::add(Tensor self, Scalar alpha=2) -> Tensor
//                                                  ^
//
// Empty for equal ones.
KEYWAY_API std::string schema_difference(FunctionSchema there, FunctionSchema here);

}  // namespace keyway::inline v1
