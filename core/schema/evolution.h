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

}  // namespace keyway::inline v1
