#include <keyway/dispatch/inspect/schema_check.h>
#include <keyway/tools/keyway/conform/operator_judges.h>

#include <string>

namespace keyway::inline v1::tools {

namespace {

class SchemaJudge final : public Judge {
 public:
  SchemaJudge(const OperatorHandle& op, DeviceType device) : Judge(device), op_(op) {}

  Outcome judge(const std::vector<Value>& values) const override {
    if (!can_be_made(values)) return {Verdict::NotServed, "tensors that cannot be copied"};
    const ObserverHandle checks = observe_calls(schema_checker());
    const ConformCall call = op_.call(values, device());
    if (call.error.empty()) return {};
    const bool is_broken = call.error.find("broke the contract") != std::string::npos;
    if (is_broken) return {Verdict::BreaksSchema, call.error};
    return {call.is_served ? Verdict::Refused : Verdict::NotServed, call.error};
  }

 private:
  ConformOperator op_;
};

}  // namespace

std::unique_ptr<Judge> make_schema_judge(const OperatorHandle& op, DeviceType device) {
  return std::make_unique<SchemaJudge>(op, device);
}

}  // namespace keyway::inline v1::tools
