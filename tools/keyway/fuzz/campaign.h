// A campaign: boundary calls of many operators, each in a child process.
#pragma once

#include <keyway/tools/keyway/fuzz/batch.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

struct CampaignOptions {
  std::size_t calls = 2000;  // of each operator
  std::uint64_t seed = 0;
  DeviceType device = DeviceType::CPU;  // where the tensors are
  BatchLimits limits;
};

struct CampaignResult {
  std::size_t operators = 0;
  std::array<std::size_t, kVerdicts> counts{};

  std::size_t calls() const;
  std::size_t failures() const;
};

// The operators whose name has `pattern` in it or, if it has a `*` or `?`, fits it as a file's name would.
std::vector<OperatorHandle> operators_like(const std::string& pattern);

// A call of a report, OP:INDEX.
struct CallNumber {
  OperatorHandle op;
  std::size_t index;
};
// Throws keyway::Error for what is none, and for an operator that is not there.
CallNumber parse_call_number(const std::string& text);

// Calls `found` for each failure, as soon as it is found.
CampaignResult run_campaign(const std::vector<OperatorHandle>& ops, const CampaignOptions& options,
                            const std::function<void(const Failure&)>& found);

}  // namespace keyway::inline v1::tools
