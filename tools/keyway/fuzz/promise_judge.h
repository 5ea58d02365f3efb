// PromiseJudge: says whether the library kept its promise in a call: what `keyway fuzz` is judged by.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/fuzz/judge.h>
#include <keyway/tools/keyway/fuzz/snapshot.h>

#include <string>
#include <vector>

namespace keyway::inline v1::tools {

class PromiseJudge final : public Judge {
 public:
  // Of calls with the tensors on devices of that type.
  explicit PromiseJudge(const OperatorHandle& op, DeviceType device = DeviceType::CPU);

  Outcome judge(const std::vector<Value>& values) const override;

 private:
  Outcome judge_error(const Error& error) const;
  Outcome wait() const;
  // Which argument changed that must not have; empty if none did.
  std::string changed_argument(const Snapshot& before, const std::vector<Value>& values, bool threw) const;
  Outcome judge_results(const std::vector<Value>& values, const Stack& arguments, const Stack& results) const;
  // What Meta says of the same call, compared with the results.
  std::string compare_with_meta(const std::vector<Value>& values, const Stack& results) const;
  bool fits_meta(const std::vector<Value>& values) const;
  bool names_cause(const Error& error) const;

  OperatorHandle op_;
  std::string name_;
  std::vector<std::string> arguments_;
  std::vector<bool> written_;  // by argument
  std::vector<bool> out_;      // of these, those that are tensors for results
  std::vector<bool> names_device_;
  bool has_meta_;  // sizes and dtypes of results do not depend on data
};

}  // namespace keyway::inline v1::tools
