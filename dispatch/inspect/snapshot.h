// Snapshot: all that is registered, as canonical JSON, and how two of them differ. A snapshot depends on what is
// registered and not on the order in which it was: a file of it in a repository says in review what a change of code
// registers.
#pragma once

#include <keyway/core/base/macros.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// {"format": 1, "backends": [...], "operators": [{"name", "schema", "tags", "file", "line", "kernels": [{"key", "name",
// "file", "line"}]}], "fallbacks": [...], "dangling": [...]}: sorted by name, kernels by key; of one key in the order
// of their registration. Of operators, `pattern` chooses those whose full name has it in it.
KEYWAY_API std::string registry_snapshot(std::string_view pattern = {});

// One operator that two snapshots have differently.
struct OperatorDifference {
  enum class Kind { Added, Removed, SchemaChanged, KernelsChanged };
  Kind kind;
  std::string op;
  std::vector<std::string> lines;     // what is different, for people
  std::vector<std::string> backward;  // why calls written for the first fail with the second; see evolution.h
  std::vector<std::string> forward;   // why calls written for the second fail with the first
};
struct KEYWAY_API SnapshotDifference {
  std::vector<OperatorDifference> operators;
  std::vector<std::string> fallbacks;  // "+ Meta (a.cpp:3)"

  bool empty() const { return operators.empty() && fallbacks.empty(); }
  // Whether every call that works with the first works with the second, and the other way round.
  bool is_backward_compatible() const;
  bool is_forward_compatible() const;
};

// Places (file and line) do not count. Throws keyway::Error(Parse) for text that is no snapshot.
KEYWAY_API SnapshotDifference compare_snapshots(std::string_view before, std::string_view after);

}  // namespace keyway::inline v1
