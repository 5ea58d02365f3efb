// Examples: the calls that operators are judged around.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/fuzz/judge.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::tools {

class Examples {
 public:
  Examples() = default;
  // Lines "my::scale ([1.0, 2.0], 3) == [3.0, 6.0]": an operator, and an example as entries of schemas have it. Empty
  // lines and those that begin with # are left out. Throws keyway::Error(Parse) with the number of a wrong one.
  explicit Examples(std::string_view text);

  // The operator's line, or that of the overload that returns what it writes; else its own example; empty if it has
  // neither.
  std::string text_of(const OperatorHandle& op) const;
  // The arguments of that example. Without one, the first of some small calls that is served, each of which is made in
  // a child process. Throws keyway::Error(Parse) for a line whose arguments the operator does not have.
  std::vector<Value> call_of(const OperatorHandle& op, DeviceType device) const;

 private:
  std::map<std::string, std::string, std::less<>> lines_;  // by full name
};

// Whether the call gives the value of the example, up to the digits that are written there. Null if it has none.
std::unique_ptr<Judge> make_example_judge(const OperatorHandle& op, DeviceType device, const std::string& example);

}  // namespace keyway::inline v1::tools
