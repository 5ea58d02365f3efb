#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/random/generator.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/fallback.h>
#include <keyway/dispatch/plugin/cpu_fallback.h>
#include <keyway/dispatch/plugin/fallback_report.h>
#include <keyway/dispatch/plugin/host_regions.h>

#include <optional>
#include <span>
#include <vector>

namespace keyway::inline v1 {

namespace {

// One call of an operator of a device type, made on the CPU.
class CpuCall {
 public:
  CpuCall(const OperatorEntry& op, DispatchKeySet keys)
      : op_(op), keys_(keys), type_(static_cast<DeviceType>(keys.highest_backend_number() - 1)) {}

  // Makes `values`, the arguments, the results.
  void run(Stack& values) {
    const Stack arguments = values;
    move_to_host(values);
    const GeneratorState before = draw_on_host(values);
    const auto backends = DispatchKeySet::from_raw(DispatchKeySet::kBackendMask);
    const auto functionalities = DispatchKeySet::from_raw(keys_.raw() & ~backends.raw());
    redispatch_boxed(op_, functionalities | DispatchKeySet(DeviceType::CPU), values);
    if (drawn_from_) drawn_from_->take_calls(host_generator_->get_state().call - before.call);
    write_back(arguments);
    update_tensors(values, [&](TensorBase& result) { result = on_device(result); });
    detail::note_cpu_fallback(op_, type_, regions_.bytes_to_host(), regions_.bytes_to_device());
  }

 private:
  // As kernels have it: all tensors on one device, but for those of the CPU.
  void check_device(Device device, std::string_view argument) {
    KEYWAY_CHECK(!first_ || device == *first_ || op_.has_tag("across_devices"),
                 "argument '{}' is on {}, and others on {}: move one of them with to()", argument, device, *first_);
    if (!first_) first_ = device;
    if (!device_ && device.type() == type_) device_ = device;
  }

  void move_to_host(Stack& values) {
    const ArgumentList arguments = op_.schema().arguments();
    for (std::size_t i = 0; i < values.size(); ++i) {
      for_each_tensor(std::span(&values[i], 1), [&](const TensorBase& tensor) {
        KEYWAY_CHECK(!tensor.is_meta(), "argument '{}' is on meta, and others on {}", arguments[i].name(), type_);
        if (tensor.is_cpu()) {
          stay_.push_back(tensor);
          return;
        }
        check_device(tensor.device(), arguments[i].name());
        regions_.add(tensor, arguments[i].is_out());
      });
    }
    regions_.copy_to_host();
    for (IValue& value : values) {
      if (!value.is(ValueTag::Device)) continue;
      const Device named = value.to_device();
      results_stay_ = named.type() != type_;
      if (!results_stay_) {
        device_ = named;
        value = Device(DeviceType::CPU);
      }
    }
    update_tensors(values, [&](TensorBase& tensor) {
      if (!tensor.is_cpu()) tensor = regions_.on_host(tensor);
    });
  }

  // Puts a generator of the CPU, in the same state, in the place of the device's. Returns that state.
  GeneratorState draw_on_host(Stack& values) {
    const ArgumentList arguments = op_.schema().arguments();
    for (std::size_t i = 0; i < values.size(); ++i) {
      SchemaType type = arguments[i].type();
      if (type.is(TypeKind::Optional)) type = type.element();
      if (!type.is(TypeKind::Generator)) continue;
      const bool is_given = !values[i].is_none() && values[i].to_generator().defined();
      drawn_from_ = is_given ? values[i].to_generator() : default_generator(device_or_current());
      host_generator_.emplace(DeviceType::CPU);
      host_generator_->set_state(drawn_from_->get_state());
      values[i] = IValue(*host_generator_);
    }
    return host_generator_ ? host_generator_->get_state() : GeneratorState();
  }

  void write_back(const Stack& arguments) {
    const ArgumentList of_schema = op_.schema().arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!of_schema[i].is_write()) continue;
      IValue value = arguments[i];
      for_each_tensor(std::span(&value, 1), [&](const TensorBase& tensor) {
        if (!tensor.is_cpu()) regions_.write_back(tensor);
      });
    }
  }

  TensorBase on_device(const TensorBase& result) {
    if (!result.is_cpu()) return result;
    if (const std::optional<TensorBase> known = regions_.on_device(result)) return *known;
    for (const TensorBase& argument : stay_) {
      if (argument.is_alias_of(result)) return result;
    }
    return results_stay_ ? result : regions_.copy_to_device(result, device_or_current());
  }

  Device device_or_current() const { return device_ && device_->has_index() ? *device_ : current_device(type_); }

  const OperatorEntry& op_;
  const DispatchKeySet keys_;
  const DeviceType type_;
  HostRegions regions_;
  std::vector<TensorBase> stay_;  // arguments that are no device's
  std::optional<Device> first_;   // that a tensor is on, but for the CPU
  std::optional<Device> device_;  // of the results
  bool results_stay_ = false;     // the call asks for another device type by name
  std::optional<Generator> drawn_from_, host_generator_;
};

}  // namespace

void cpu_fallback(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  with_arguments(op, stack, [&](Stack& values) { CpuCall(op, keys).run(values); });
}

}  // namespace keyway::inline v1
