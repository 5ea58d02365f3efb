#include <keyway/core/device/device_guard.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conform_call.h>
#include <keyway/tools/keyway/conform/tolerance.h>
#include <keyway/tools/keyway/fuzz/results.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string_view>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

constexpr std::uint64_t kSeed = 7;  // of random operators, for every call

// Not what is expanded to more elements than its memory has.
bool can_be_compared(const TensorBase& tensor) {
  const std::size_t room = tensor.storage().nbytes() / tensor.itemsize();
  return kCastTypes.contains(tensor.dtype()) && static_cast<std::size_t>(tensor.numel()) <= room;
}

}  // namespace

TensorBase on_cpu(const TensorBase& tensor) {
  const NoGradGuard no_grad;
  return tensor.is_cpu() ? tensor : TensorBase(Tensor(tensor).detach().to(kCPU));
}

TensorBase whole_storage(const TensorBase& tensor) {
  const std::int64_t count[] = {static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.itemsize())};
  const std::int64_t stride[] = {1};
  return on_cpu(make_view(tensor, count, stride, 0));
}

bool same_strides(const TensorBase& a, const TensorBase& b) {
  for (std::size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.numel() > 0 && a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

std::uint32_t version_of(const TensorBase& tensor) { return tensor.is_inference() ? 0 : tensor._version(); }

bool can_be_made(const std::vector<Value>& values) {
  for (const Value& value : values) {
    for (const TensorRecipe& recipe : value.tensors) {
      const bool is_on_meta = recipe.device == DeviceType::Meta;
      if (recipe.defined && (is_on_meta || !kCastTypes.contains(recipe.dtype))) return false;
    }
  }
  return true;
}

ConformOperator::ConformOperator(const OperatorHandle& op) : op_(op), names_(argument_names(op)) {
  for (const Argument argument : op.schema().arguments()) {
    written_.push_back(argument.is_write());
    out_.push_back(argument.is_out());
    SchemaType type = argument.type();
    if (type.is(TypeKind::Optional)) type = type.element();
    names_device_.push_back(type.is(TypeKind::Device));
    pins_.push_back(argument.name() == "pin_memory");
  }
  has_values_ = !op.entry().has_tag("nondeterministic");
  is_pointwise_ = op.entry().has_tag("pointwise");
  static constexpr std::string_view kBasic[] = {"add", "sub",         "rsub", "mul",
                                                "div", "true_divide", "sqrt", "reciprocal"};
  const std::string name = op.entry().short_name();
  const std::string_view base = std::string_view(name).substr(0, name.find_first_of("._"));
  is_basic_ = std::find(std::begin(kBasic), std::end(kBasic), base) != std::end(kBasic);
}

Stack ConformOperator::arguments(const std::vector<Value>& values, Device device) const {
  const DeviceGuard guard(device);
  Stack arguments = make_stack(values, device.type());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (names_device_[i]) arguments[i] = IValue(device);
    if (pins_[i]) arguments[i] = IValue();  // memory of a device cannot be
    if (arguments[i].is(ValueTag::Generator)) {
      Generator own(device);
      own.manual_seed(kSeed);
      arguments[i] = IValue(own);
    }
  }
  return arguments;
}

ConformCall ConformOperator::queue(Stack arguments, Device device) const {
  ConformCall call;
  call.arguments = std::move(arguments);
  for (const TensorBase& tensor : tensors_of(call.arguments)) call.versions.push_back(version_of(tensor));
  call.results = call.arguments;
  manual_seed(kSeed);
  const Device current = current_device(device.type());
  const Stream stream = current_stream(device);
  try {
    op_.call_boxed(call.results);
  } catch (const Error& error) {
    call.error = error.what();
    call.is_served = error.kind() != ErrorKind::NotImplemented && error.kind() != ErrorKind::OutOfMemory;
  }
  call.leaves_device = current_device(device.type()) == current && current_stream(device) == stream;
  return call;
}

ConformCall ConformOperator::call(Stack arguments, Device device) const {
  ConformCall call = queue(std::move(arguments), device);
  if (device.is_cpu() || device.is_meta()) return call;
  try {
    synchronize(device);
  } catch (const Error& error) {
    call.is_late = call.error.empty();
    if (call.is_late) call.error = error.what();
  }
  return call;
}

bool ConformOperator::is_composite(DeviceType device) const {
  const Table& table = unobserved(op_.entry().table());
  const DispatchKeySet keys = DispatchKeySet(device) | DispatchKeySet(Functionality::Dense);
  return table.info[table.find(keys).kernel].key != keys.highest_priority_key();
}

bool ConformOperator::is_written_elsewhere(const TensorBase& tensor, const ConformCall& call) const {
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_written(i)) continue;
    for (const TensorBase& written : tensors_of({call.arguments[i]})) {
      if (written.is_alias_of(tensor)) return true;
    }
  }
  return false;
}

bool shares_memory(const std::vector<Value>& values) {
  return std::any_of(values.begin(), values.end(), [](const Value& value) {
    return std::any_of(value.tensors.begin(), value.tensors.end(),
                       [](const TensorRecipe& recipe) { return recipe.sharing != Sharing::None; });
  });
}

bool writes_shared_list(const ConformOperator& op, const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_list = values[i].kind == Value::Kind::Tensors;
    if (is_list && op.is_written(i) && !op.is_out(i) && shares_memory(values)) return true;
  }
  return false;
}

std::string bits_difference(const ConformOperator& op, const ConformCall& call, const ConformCall& expected) {
  if (!op.has_values()) return {};
  if (call.results.size() != expected.results.size()) return "it has another number of results";
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    if (call.results[i].is(ValueTag::Double) && to_string(call.results[i]) != to_string(expected.results[i])) {
      return fmt::format("result {} is {}, not {}", i, to_string(call.results[i]), to_string(expected.results[i]));
    }
  }
  const std::vector<TensorBase> a = tensors_of(call.results), b = tensors_of(expected.results);
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!can_be_compared(a[i])) continue;
    if (a[i].sizes() != b[i].sizes() || !same_bits(on_cpu(a[i]), on_cpu(b[i]))) {
      return fmt::format("result {} has other elements", i);
    }
  }
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const std::vector<TensorBase> x = tensors_of({call.arguments[i]}), y = tensors_of({expected.arguments[i]});
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (!can_be_compared(x[k]) || x[k].sizes() != y[k].sizes()) continue;
      if (!same_bits(on_cpu(x[k]), on_cpu(y[k]))) return fmt::format("{} has other elements", op.argument_name(i));
    }
  }
  return {};
}

}  // namespace keyway::inline v1::tools
