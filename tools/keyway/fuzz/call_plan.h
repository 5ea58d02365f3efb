// CallPlan: the calls that a campaign makes of one operator. Call i is a pure function of operator, seed and i.
//
// First each argument takes each of its boundary values while the others are the example's; then come calls with two or
// three arguments changed, over the example in other sizes too.
#pragma once

#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::tools {

class CallPlan {
 public:
  CallPlan(const OperatorHandle& op, std::uint64_t seed) : CallPlan(op, seed, seed_call(op)) {}
  // Around another call than the operator's example.
  CallPlan(const OperatorHandle& op, std::uint64_t seed, const std::vector<Value>& example);

  std::vector<Value> call(std::size_t index) const;
  // How many calls change one argument only.
  std::size_t singles() const { return singles_.size(); }
  std::string text(std::size_t index) const;

 private:
  // A call, and the values that each argument may take in its place.
  struct Base {
    std::vector<Value> values;
    std::vector<std::vector<Value>> changes;
  };
  // One argument takes one of its values.
  struct Change {
    std::size_t argument;
    std::size_t value;
  };

  Base base_of(std::vector<Value> values) const;
  void change(const Base& base, std::size_t argument, std::uint64_t random, std::vector<Value>& values) const;

  OperatorHandle op_;
  std::uint64_t seed_;
  std::vector<Base> bases_;  // the example's first
  std::vector<Change> singles_;
};

}  // namespace keyway::inline v1::tools
