// ConformJudge: makes one call on the CPU and on a device, and says where they differ.
#pragma once

#include <keyway/tools/keyway/conform/neighbour_calls.h>
#include <keyway/tools/keyway/fuzz/judge.h>

#include <memory>
#include <string>
#include <utility>
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
  ConformJudge(const OperatorHandle& op, DeviceType device)
      : ConformJudge(op, device, make_cpu_reference(ConformOperator(op))) {}
  // With what `reference` gives in the place of what the CPU does.
  ConformJudge(const OperatorHandle& op, DeviceType device, std::unique_ptr<Reference> reference)
      : Judge(device), op_(op), reference_(std::move(reference)), neighbours_(op_, *reference_) {}
  ConformJudge(const ConformJudge&) = delete;
  ConformJudge& operator=(const ConformJudge&) = delete;
  Outcome judge(const std::vector<Value>& values) const override;

 private:
  Outcome compare(const std::vector<Value>& values) const;
  std::string result_difference(const std::vector<Value>& values, const ConformCall& there, const ConformCall& cpu,
                                const ConformCall& exact) const;
  std::string defined_difference(const std::vector<Value>& values, const ConformCall& there, const ConformCall& cpu,
                                 const ConformCall& exact) const;
  std::string argument_difference(const std::vector<Value>& values, const ConformCall& there, const ConformCall& cpu,
                                  const ConformCall& exact) const;
  std::string written_difference(const std::vector<Value>& values, const TensorBase& got, const Expected& expected,
                                 const NeighbourCalls::Find& find) const;
  std::string repeat_difference(const std::vector<Value>& values, const ConformCall& there) const;
  std::string gradient_difference(const std::vector<Value>& values, const ConformCall& there, const ConformCall& cpu,
                                  const ConformCall& exact) const;

  ConformOperator op_;
  std::unique_ptr<Reference> reference_;
  NeighbourCalls neighbours_;
};

}  // namespace keyway::inline v1::tools
