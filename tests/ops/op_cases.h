// What the schema entries say for the generated suite. The table is generated: tests/ops/op_cases.cpp in the build, and
// for a library out of tree in its folder (keyway_test_ops).
#pragma once

#include <cstddef>
#include <string_view>

namespace keyway::inline v1::testing {

// One entry. Lists of names are separated by blanks; of texts, each ends its line.
struct OpCases {
  std::string_view op = {};           // the functional overload, or the only one: "keyway::add.Tensor"
  std::string_view inplace = {};      // the in-place overload; empty if there is none
  std::string_view out = {};          // the out= overload; empty if there is none
  std::string_view recipe = {};       // "pointwise", "reduction", "view", "composite", "kernels"
  std::string_view broadcasts = {};   // the tensors whose sizes are broadcast to each other: "self other"
  std::string_view derivatives = {};  // the inputs whose gradient has a formula other than None
  bool implicit = false;              // its gradient is that of what it calls
  std::string_view domain = {};       // "self > 0.1"
  std::string_view samples = {};      // the example, and further calls
  std::string_view failing = {};      // calls that must fail, each with two blanks and a part of the error behind it
};

struct OpCasesList {
  const OpCases* first;
  std::size_t count;
  const OpCases* begin() const { return first; }
  const OpCases* end() const { return first + count; }

  // Whether they are of a library out of tree.
  bool of_library() const { return !first->op.starts_with("keyway::"); }
  // How many checks a test of the suite has to make: so many of the tree's operators, of which that is known.
  std::size_t at_least(std::size_t checks) const { return of_library() ? 0 : checks; }
};
extern const OpCasesList kOpCases;

}  // namespace keyway::inline v1::testing
