#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conditions.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <utility>

namespace keyway::inline v1::tools {

namespace {

class OtherDeviceJudge final : public Judge {
 public:
  OtherDeviceJudge(const OperatorHandle& op, DeviceType device)
      : Judge(device), op_(op), goes_across_(op.entry().has_tag("across_devices")) {}

  Outcome judge(const std::vector<Value>& values) const override {
    if (!can_be_made(values)) return {Verdict::NotServed, "tensors that cannot be copied"};
    if (device_count(device()) < 2) return {Verdict::NotServed, "there is one device"};
    const Device first(device(), 0), second(device(), 1);
    const DeviceGuard guard(first);
    const ConformCall usual = op_.call(values, first);
    if (!usual.error.empty()) return {Verdict::Refused, usual.error};
    const ConformCall call = op_.call(values, second);
    if (!call.error.empty()) return {Verdict::Differs, "refused on device 1: " + call.error};
    if (!call.leaves_device || current_device(device()) != first) {
      return {Verdict::Differs, "another device or stream is current after a call on device 1"};
    }
    for (const TensorBase& result : tensors_of(call.results)) {
      if (!result.is_cpu() && result.device() != second) {
        return {Verdict::Differs, "a result of a call on device 1 is on " + to_string(result.device())};
      }
    }
    const std::string problem = bits_difference(op_, call, usual);
    if (!problem.empty()) return {Verdict::Differs, "on device 1, " + problem};
    return goes_across_ ? Outcome() : judge_mixed(values, first, second);
  }

 private:
  // With the second tensor of the call on another device than the first.
  Outcome judge_mixed(const std::vector<Value>& values, Device first, Device second) const {
    Stack mixed = op_.arguments(values, first);
    const Stack there = op_.arguments(values, second);
    std::size_t tensors = 0;
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      if (!mixed[i].is_tensor() || !mixed[i].tensor_ref().defined() || mixed[i].tensor_ref().is_cpu()) continue;
      if (++tensors < 2) continue;
      mixed[i] = there[i];
      const ConformCall call = op_.call(std::move(mixed), first);
      if (!call.error.empty()) return {};
      return {Verdict::Differs, "served with " + op_.argument_name(i) + " on another device than the tensors before"};
    }
    return {};
  }

  ConformOperator op_;
  bool goes_across_;
};

}  // namespace

std::unique_ptr<Judge> make_other_device_judge(const OperatorHandle& op, DeviceType device) {
  return std::make_unique<OtherDeviceJudge>(op, device);
}

}  // namespace keyway::inline v1::tools
