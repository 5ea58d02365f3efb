#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conform_call.h>
#include <keyway/tools/keyway/conform/judged.h>
#include <keyway/tools/keyway/conform/speed.h>
#include <keyway/tools/keyway/fuzz/campaign.h>
#include <keyway/tools/keyway/fuzz/results.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace keyway::inline v1::tools {

namespace {

constexpr std::int64_t kSizes[] = {1 << 10, 1 << 16, 1 << 20};  // elements of the greatest tensor, about
constexpr double kTime = 0.02;                                  // seconds that a call is repeated for

// The median of a call's repetitions, each of which ends when the device is done.
template <typename F>
double time_of(Device device, F&& call) {
  using Clock = std::chrono::steady_clock;
  call();
  synchronize(device);
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < 3 || (Clock::now() - begin < std::chrono::duration<double>(kTime) && times.size() < 1000)) {
    const auto start = Clock::now();
    call();
    synchronize(device);
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// Sizes become larger by one factor, the greater ones of a tensor first, so that what fitted together still does: each
// number among the sizes becomes another, everywhere.
std::vector<Value> enlarged(std::vector<Value> values, std::int64_t elements) {
  std::int64_t rank = 1, greatest = 1;
  for (const Value& value : values) {
    for (const TensorRecipe& recipe : value.tensors) {
      std::int64_t numel = 1;
      for (const std::int64_t size : recipe.sizes) numel *= size;
      if (!recipe.defined || numel < greatest) continue;
      greatest = numel;
      rank = std::max<std::int64_t>(1, static_cast<std::int64_t>(recipe.sizes.size()));
    }
  }
  const double wanted = static_cast<double>(elements) / static_cast<double>(greatest);
  const auto factor =
      static_cast<std::int64_t>(std::max(1.0, std::round(std::pow(wanted, 1.0 / static_cast<double>(rank)))));
  for (Value& value : values) {
    for (TensorRecipe& recipe : value.tensors) {
      for (std::int64_t& size : recipe.sizes) size *= size > 1 ? factor : 1;
      recipe.strides.clear();
      recipe.offset = 0;
    }
  }
  return values;
}

// A call on a device that repeats itself; nothing if it is refused.
std::optional<SpeedRow> measure(const ConformOperator& op, const std::vector<Value>& values, Device device) {
  const Stack arguments = op.arguments(values, device), on_cpu = op.arguments(values, DeviceType::CPU);
  const ConformCall call = op.call(arguments, device);
  if (!call.error.empty() || !op.call(on_cpu, DeviceType::CPU).error.empty()) return std::nullopt;
  SpeedRow row;
  row.op = op.handle().entry().short_name();
  for (const Stack& stack : {call.arguments, call.results}) {
    for (const TensorBase& tensor : tensors_of(stack)) {
      row.elements = std::max(row.elements, tensor.numel());
      row.bytes += tensor.nbytes();
    }
  }
  row.seconds = time_of(device, [&] { op.queue(arguments, device); });
  row.cpu_seconds = time_of(DeviceType::CPU, [&] { op.queue(on_cpu, DeviceType::CPU); });
  return row;
}

double copy_bandwidth(Device device) {
  const NoGradGuard no_grad;
  const Tensor from = zeros({1 << 22}, TensorOptions().device(device)), to = empty_like(from);
  return 2.0 * static_cast<double>(from.nbytes()) / time_of(device, [&] { to.copy_(from); });
}

}  // namespace

SpeedReport measure_speed(DeviceType type, const std::string& pattern) {
  const Device device = current_device(type);
  SpeedReport report;
  report.device = to_string(type);
  report.copy_bandwidth = copy_bandwidth(device);
  for (const OperatorHandle& handle : operators_like(pattern)) {
    if (state_without_calls(handle, type, false)) continue;
    const ConformOperator op(handle);
    const std::vector<Value> example = seed_call(handle);
    if (!can_be_made(example)) continue;
    std::int64_t before = 0;
    for (const std::int64_t elements : kSizes) {
      try {
        const std::optional<SpeedRow> row = measure(op, enlarged(example, elements), device);
        if (!row || row->elements <= before) continue;
        before = row->elements;
        report.rows.push_back(*row);
      } catch (const Error&) {
        break;  // there is no memory for more
      }
    }
  }
  return report;
}

std::string text_of(const SpeedReport& report) {
  std::string text = fmt::format("{}: a copy within the device moves {:.2f} GB/s, read and written\n", report.device,
                                 report.copy_bandwidth / 1e9);
  text += fmt::format("{:<36} {:>10} {:>12} {:>12} {:>8} {:>8} {:>8}\n", "operator", "elements", "device us", "CPU us",
                      "times", "GB/s", "of copy");
  for (const SpeedRow& row : report.rows) {
    const double rate = static_cast<double>(row.bytes) / row.seconds;
    text += fmt::format("{:<36} {:>10} {:>12.2f} {:>12.2f} {:>8.2f} {:>8.2f} {:>7.0f}%\n", row.op, row.elements,
                        row.seconds * 1e6, row.cpu_seconds * 1e6, row.seconds / row.cpu_seconds, rate / 1e9,
                        100 * rate / report.copy_bandwidth);
  }
  return text;
}

}  // namespace keyway::inline v1::tools
