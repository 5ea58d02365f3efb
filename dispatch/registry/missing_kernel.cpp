// The error of a missing kernel: the nearest cause first, then what there is.
#include <keyway/core/device/device_guard_impl.h>
#include <keyway/core/device/load_backend.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/dispatch/registry/static_table.h>

namespace keyway::inline v1 {

namespace {

std::string list_registered(const Table& table) {
  std::string text;
  for (std::size_t i = 1; i < table.kernel_count; ++i) {
    const KernelInfo& info = table.info[i];
    text += text.empty() ? "" : ", ";
    text += to_string(info.key);
    if (info.file[0] != '\0') text += std::string(" (") + info.file + ":" + std::to_string(info.line) + ")";
  }
  return text.empty() ? "nothing" : text;
}

// The first argument with a tensor of this backend or that names a device of it, and how: "where argument 'other'
// lies".
std::string argument_on(const OperatorEntry& op, const Stack& stack, DeviceType backend) {
  const ArgumentList arguments = op.schema().arguments();
  if (stack.size() < arguments.size()) return {};
  const std::size_t first = stack.size() - arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const IValue& value = stack[first + i];
    const std::string name = "argument '" + std::string(arguments[i].name()) + "'";
    if (value.tensor_keys().has(backend)) return ", where " + name + " lies";
    if (value.is(ValueTag::Device) && value.to_device().type() == backend) return ", which " + name + " names";
  }
  return {};
}

// "'self', 'other'": those that may hold a tensor.
std::string tensor_arguments(const OperatorEntry& op) {
  std::string names;
  for (std::size_t i = 0; i < op.schema().arguments().size(); ++i) {
    if ((op.info().boxed.tensors >> i & 1) == 0) continue;
    names += (names.empty() ? "'" : ", '") + std::string(op.schema().arguments()[i].name()) + "'";
  }
  return names;
}

// Takes tensors in lists only: without a tensor, these are empty.
bool takes_only_lists(const OperatorEntry& op) {
  bool lists = false;
  for (std::size_t i = 0; i < op.schema().arguments().size(); ++i) {
    if ((op.info().boxed.tensors >> i & 1) == 0) continue;
    if (!op.schema().arguments()[i].type().is(TypeKind::List)) return false;
    lists = true;
  }
  return lists;
}

// What a device type lacks: a backend, and where it could come from, or a device.
std::string state_of(DeviceType type) {
  const DeviceGuardImplInterface* const impl = load_device_guard_impl(type);
  const std::string name(to_string(type));
  if (impl != nullptr) {
    return impl->device_count() > 0 ? std::string() : "; there is no " + name + " device: " + impl->why_no_device();
  }
  const std::string why = load_backend(type);
  return "; no backend of device type " + name + " is loaded" + (why.empty() ? "" : ": " + why);
}

// Whether the call has a kernel now: its backend's library is loaded if it was not, or another thread has just done so.
bool has_kernel_now(const OperatorEntry& op, DispatchKeySet keys) {
  const int number = keys.highest_backend_number();
  if (!is_per_backend(keys.highest_functionality()) || number == 0) return false;
  load_backend(static_cast<DeviceType>(number - 1));
  const Table& now = op.table();
  return now.op != nullptr && now.find_past_mark(keys).kernel != 0;
}

bool has_only_autograd(const Table& table) {
  for (std::size_t i = 1; i < table.kernel_count; ++i) {
    const DispatchKey key = table.info[i].key;
    const bool above = is_alias(key) ? key == DispatchKey::Autograd || key == DispatchKey::Autocast
                                     : alias_of(functionality_of(key)).has_value();
    if (!above) return false;
  }
  return table.kernel_count > 1;
}

std::string cause(const OperatorEntry& op, const Table& table, DispatchKeySet keys, const Stack& stack) {
  keys = keys.remove(Functionality::Autocast);  // the thread's, which says nothing of the arguments
  if (table.op == nullptr) return "it is no longer defined: its library was unloaded, or gave it another schema";
  if (keys.highest_functionality() == Functionality::Undefined) {
    const std::string tensors = tensor_arguments(op);
    if (tensors.empty()) return "it takes no tensor, and has no kernel that works without one";
    if (takes_only_lists(op)) return "no tensor is given for " + tensors + ": a list of tensors must not be empty";
    return "no tensor is given for " + tensors + ", and it has no kernel that works without one";
  }
  const DispatchKey key = keys.highest_priority_key();
  if (is_per_backend(keys.highest_functionality()) && keys.highest_backend_number() == 0) {
    return "the key set " + to_string(keys) + " names no backend";
  }
  if (has_only_autograd(table)) {
    return "it has only an Autograd kernel, which runs when an argument carries that key; what must always "
           "run is a "
           "composite";
  }
  std::string text = "it has no kernel for " + to_string(key);
  if (is_per_backend(keys.highest_functionality())) {
    const auto backend = static_cast<DeviceType>(keys.highest_backend_number() - 1);
    const bool known = to_string(backend) != "unknown";
    if (!known) text = "the backend of device type " + std::to_string(static_cast<int>(backend)) + " is not loaded";
    text += argument_on(op, stack, backend);
    if (known) text += state_of(backend);
  }
  return text;
}

}  // namespace

void missing_kernel(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack) {
  if (has_kernel_now(op, keys)) return redispatch_boxed(op, keys, stack);
  const Table& table = Table::of(kernel);  // the one that the call found, which may not be the operator's any more
  const bool is_empty = keys.highest_functionality() == Functionality::Undefined && takes_only_lists(op);
  Error error(is_empty ? ErrorKind::Value : ErrorKind::NotImplemented,
              cause(op, table, keys, stack) + ". Keys of the call: " + to_string(keys) +
                  ". Registered: " + list_registered(table) + ".",
              __FILE__, __LINE__);
  error.leave_op(op.short_name());
  throw error;
}

}  // namespace keyway::inline v1
