// OperatorJudges: all that judges one operator of a device, and what it is held against.
#pragma once

#include <keyway/tools/keyway/conform/conform_plan.h>
#include <keyway/tools/keyway/conform/conformance.h>
#include <keyway/tools/keyway/conform/earlier_kernels.h>
#include <keyway/tools/keyway/fuzz/judge.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::tools {

enum class Oracle : std::uint8_t {
  Cpu,      // the CPU's kernels
  Earlier,  // the CPU's kernels before plug-ins were loaded
  Itself,   // what holds for every right operator
};
std::string_view to_string(Oracle oracle);
Oracle oracle_of(const OperatorHandle& op, const ConformOptions& options);

// Whether the run is about that operator: of plug-ins that bring no device type of the run's, only what they registered
// for it.
bool is_asked_about(const OperatorHandle& op, const ConformOptions& options);

// The calls that the operator is judged by.
ConformPlan plan_of(const OperatorHandle& op, const ConformOptions& options);

class OperatorJudges {
 public:
  struct One {
    std::string about;  // what of the operator it judges; empty for the first one, which judges results
    std::unique_ptr<Judge> judge;
    std::size_t most_calls;
  };

  OperatorJudges(const OperatorHandle& op, const ConformOptions& options);
  const std::vector<One>& all() const { return judges_; }

 private:
  void add(std::string about, std::unique_ptr<Judge> judge, std::size_t most_calls);

  ObserverHandle observed_;  // where the kernels before plug-ins are called
  std::vector<One> judges_;
};

}  // namespace keyway::inline v1::tools
