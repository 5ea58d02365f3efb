// ConformJudge: makes one call on the CPU and on a device, and says where they differ.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/fuzz/judge.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

// A call that the CPU refuses is to be refused, and leaves the arguments as they were. One that it serves gives
// results of the same shapes, strides, dtypes and values (tolerance.h), on the device; a result is an argument, or
// shares memory with one, where the CPU's does; arguments are changed where the CPU changes them, and nowhere else in
// their storages; their versions grow alike. The same call again gives the same bits, and gradients are the CPU's.
//
// A call that returns is made once more with elements that all differ, so that one in another's place is seen.
class ConformJudge final : public Judge {
 public:
  ConformJudge(const OperatorHandle& op, DeviceType device);
  Outcome judge(const std::vector<Value>& values) const override;

 private:
  struct Call {
    Stack arguments, results;
    std::vector<std::uint32_t> versions;  // of the arguments' tensors, before the call
    std::string error;                    // empty if it returned
    bool is_served = true;
    bool leaves_device = true;  // the current one
  };
  Call call_on(const std::vector<Value>& values, DeviceType device) const;
  Stack exact_results(const Stack& arguments, const Stack& results) const;
  Outcome compare(const std::vector<Value>& values) const;
  std::string result_difference(const Call& there, const Call& cpu) const;
  std::string argument_difference(const Call& there, const Call& cpu) const;
  std::string repeat_difference(const std::vector<Value>& values, const Call& there) const;
  std::string gradient_difference(const Call& there, const Call& cpu) const;

  OperatorHandle op_;
  std::vector<std::string> arguments_;
  std::vector<bool> written_, out_, names_device_;  // by argument
  bool has_values_;                                 // results do not depend on what memory held before
  bool is_pointwise_;
};

}  // namespace keyway::inline v1::tools
