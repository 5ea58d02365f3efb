#include <keyway/core/device/device_guard.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/ops/device.h>
#include <keyway/tests/ops/gradient_exceptions.h>
#include <keyway/tests/ops/samples.h>

#include <set>

namespace keyway::inline v1::testing {

namespace {

Stack moved(const Stack& stack, Device device) {
  return map_tensors(stack, [&](const Tensor& tensor) { return tensor.to(device, tensor.dtype()); });
}

// The arguments of a call for the device.
Stack arguments_on(const Sample& sample, Device device) {
  Stack stack = moved(sample.arguments, device);
  const ArgumentList list = operator_named(sample.entry->op).schema().arguments();
  for (std::size_t i = 0; i < list.size() && i < stack.size(); ++i) {
    if (list[i].name() == "device") stack[i] = IValue(device);
  }
  return stack;
}

bool lie_on(const Stack& results, Device device) {
  for (const Tensor& tensor : tensors_in(results)) {
    if (tensor.defined() && tensor.device() != device) return false;
  }
  return true;
}

// Calls whose results are not a matter of values, or that are about a device of their own.
bool is_compared(const OpCases& entry) {
  static const std::set<std::string_view> kOfDevices{
      "keyway::to.device", "keyway::to.dtype_layout", "keyway::_to_copy",  "keyway::to.other",
      "keyway::copy_",     "keyway::is_pinned",       "keyway::pin_memory"};
  // Vectors may point the other way; tests/backends/cuda/driver/decompositions_test.cpp multiplies them.
  return has_values(entry) && !kOfDevices.contains(entry.op) && !is_of_matrices(entry.op);
}

// Its error may be one of the next synchronisation.
Outcome call_there(const OpCases& entry, const Sample& sample, Device device) {
  Outcome outcome = call(entry.op, arguments_on(sample, device));
  try {
    synchronize(device);
  } catch (const Error& error) {
    if (outcome.error.empty()) outcome.error = error.what();
  }
  return outcome;
}

}  // namespace

DeviceFigures compare_device(Device device) {
  DeviceFigures figures;
  for (const OpCases& entry : kOpCases) {
    if (!is_compared(entry)) continue;
    bool compared = false;
    for (const Sample& sample : all_samples(entry)) {
      const auto problem = [&](const std::string& text) {
        figures.problems.push_back(std::string(entry.op) + ": " + sample.text + ": " + text);
      };
      const Outcome expected = call(entry.op, sample.arguments);
      const Outcome outcome = call_there(entry, sample, device);
      if (outcome.error.find("it has no kernel for ") != std::string::npos) {
        figures.not_served.emplace_back(entry.op);
        break;
      }
      if (outcome.error.empty() != expected.error.empty()) {
        problem(outcome.error.empty() ? "no error, but " + expected.error : outcome.error);
        continue;
      }
      compared = true;
      ++figures.calls;
      if (!outcome.error.empty()) continue;
      if (!lie_on(outcome.results, device)) problem("a result is not on the device");
      const std::string difference =
          testing::difference(moved(outcome.results, Device(DeviceType::CPU)), expected.results);
      if (!difference.empty()) problem(difference);
    }
    figures.operators += compared ? 1 : 0;
  }
  return figures;
}

}  // namespace keyway::inline v1::testing
