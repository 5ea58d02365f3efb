// ConformPlan: the calls that a backend is judged by. Call i is a pure function of operator, seed and i.
//
// Every third call is one of `keyway fuzz`, most of which are wrong in some argument. The others are the example's, put
// together anew from what kernels go wrong at, so that most of them are right:
//
//   sizes      those of the example, others, one for all tensors, some that broadcast, none
//   dtypes     another for all tensors of one dtype, or for one tensor
//   elements   all different, many equal, NaN and infinities and zeros, great and negative numbers
//   layouts    transposed, with gaps, with an offset, expanded
//   numbers    boundary values of one to three other arguments
//
// A modest plan is for operators that nothing but their schema is known of: its integers are small, and tensors that
// the schema requires are defined.
#pragma once

#include <keyway/tools/keyway/fuzz/call_plan.h>
#include <keyway/tools/keyway/fuzz/random.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

class ConformPlan {
 public:
  ConformPlan(const OperatorHandle& op, std::uint64_t seed) : ConformPlan(op, seed, seed_call(op)) {}
  // Around another call than the operator's example.
  ConformPlan(const OperatorHandle& op, std::uint64_t seed, std::vector<Value> example, bool is_modest = false);

  std::vector<Value> call(std::size_t index) const;
  std::string text(std::size_t index) const;

 private:
  std::vector<Value> any_call(std::size_t index) const;
  void make_modest(std::vector<Value>& values) const;
  std::vector<Value> composed(Random random) const;
  void change_plain_arguments(std::vector<Value>& values, Random& random) const;

  OperatorHandle op_;
  std::uint64_t seed_;
  CallPlan boundary_calls_;
  std::vector<Value> example_;
  bool is_modest_;
  std::vector<std::size_t> plain_;                // the arguments without tensors
  std::vector<std::vector<Value>> plain_values_;  // by argument
};

}  // namespace keyway::inline v1::tools
