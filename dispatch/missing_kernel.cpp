// The error of a missing kernel: the nearest cause first, then what there is.
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/dispatcher.h>
#include <keyway/dispatch/static_table.h>

namespace keyway::inline v1 {

namespace {

std::string list_registered(const Table& table) {
  std::string text;
  for (std::size_t i = 1; i < table.kernel_count; ++i) {
    const KernelInfo& info = table.info[i];
    text += text.empty() ? "" : ", ";
    text += to_string(info.key);
    if (info.file[0] != '\0') text += format(" ({}:{})", std::initializer_list<FormatArg>{info.file, info.line});
  }
  return text.empty() ? "nothing" : text;
}

// The first argument that holds a tensor of this backend, as "argument 'other'".
std::string argument_on(const OperatorEntry& op, const Stack& stack, DeviceType backend) {
  const ArgumentList arguments = op.schema().arguments();
  if (stack.size() < arguments.size()) return {};
  const std::size_t first = stack.size() - arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const IValue& value = stack[first + i];
    if (value.is_tensor() && value.to_tensor().key_set().has(backend)) return std::string(arguments[i].name());
  }
  return {};
}

bool has_only_autograd(const Table& table) {
  for (std::size_t i = 1; i < table.kernel_count; ++i) {
    const DispatchKey key = table.info[i].key;
    if (key != DispatchKey::Autograd && (is_alias(key) || functionality_of(key) != Functionality::Autograd)) {
      return false;
    }
  }
  return table.kernel_count > 1;
}

std::string cause(const OperatorEntry& op, const Table& table, DispatchKeySet keys, const Stack& stack) {
  if (table.op == nullptr) return "it is no longer defined: its library was unloaded, or gave it another schema";
  if (keys.highest_functionality() == Functionality::Undefined) {
    return "no argument is a tensor, and it has no kernel that works without one";
  }
  const DispatchKey key = keys.highest_priority_key();
  if (is_per_backend(keys.highest_functionality()) && keys.highest_backend_number() == 0) {
    return format("the key set {} names no backend", std::initializer_list<FormatArg>{to_string(keys)});
  }
  if (has_only_autograd(table)) {
    return "it has only an Autograd kernel, which runs when an argument carries that key; what must always "
           "run is a "
           "composite";
  }
  std::string text = format("it has no kernel for {}", std::initializer_list<FormatArg>{to_string(key)});
  if (is_per_backend(keys.highest_functionality())) {
    const auto backend = static_cast<DeviceType>(keys.highest_backend_number() - 1);
    const std::string argument = argument_on(op, stack, backend);
    if (!argument.empty()) text += ", where argument '" + argument + "' lies";
  }
  return text;
}

}  // namespace

void missing_kernel(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack) {
  const Table& table = Table::of(kernel);  // the one that the call found, which may not be the operator's any more
  Error error(
      ErrorKind::NotImplemented,
      format("{}. Keys of the call: {}. Registered: {}.",
             std::initializer_list<FormatArg>{cause(op, table, keys, stack), to_string(keys), list_registered(table)}),
      __FILE__, __LINE__);
  error.leave_op(op.short_name());
  throw error;
}

}  // namespace keyway::inline v1
