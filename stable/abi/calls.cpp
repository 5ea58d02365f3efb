#include <keyway/stable/abi/calls.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>
#include <keyway/stable/abi/names.h>
#include <keyway/stable/abi/slots.h>

#include <string>
#include <unordered_map>

namespace keyway::inline v1::abi {

namespace {

// Empties slots that are arguments, and fills them with the results.
void call_with_slots(const OperatorHandle& op, StableIValue* slots) {
  const ArgumentList arguments = op.schema().arguments(), results = op.schema().returns();
  Stack stack;
  stack.reserve(arguments.size());
  for_each_index(arguments.size(), [&](std::size_t i) { stack.push_back(take_slot(arguments[i].type(), slots[i])); });
  op.call_boxed(stack);
  for (std::size_t i = 0; i < results.size(); ++i) slots[i] = make_slot(results[i].type(), std::move(stack[i]));
}

AOTITorchError call_by_name(const char* function, const char* name, const char* overload, StableIValue* stack,
                            std::uint64_t built_version) {
  return guarded(function, [&] {
    check_version(built_version);
    const std::string own = own_operator(&checked(name, "the operator's name"), overload == nullptr ? "" : overload);
    call_with_slots(operator_of(own), &checked(stack, "the stack"));
  });
}

}  // namespace

OperatorHandle operator_of(const std::string& name) {
  thread_local std::uint64_t generation = 0;
  // What the thread has called by name, as long as no operator is defined or removed.
  thread_local std::unordered_map<std::string, OperatorHandle> known;
  if (const std::uint64_t now = Dispatcher::singleton().generation(); now != generation) {
    known.clear();
    generation = now;
  }
  const auto at = known.find(name);
  if (at != known.end()) return at->second;
  return known.emplace(name, Dispatcher::singleton().op(name)).first->second;
}

Stack call(std::string_view name, std::initializer_list<IValue> arguments) {
  Stack stack(arguments);
  operator_of("keyway::" + std::string(name)).call_boxed(stack);
  return stack;
}

void give_results(const Stack& results, std::initializer_list<AtenTensorHandle*> handles) {
  std::size_t next = 0;
  for (AtenTensorHandle* const handle : handles) give_handle(handle, results[next++].to_tensor());
}

}  // namespace keyway::inline v1::abi

AOTITorchError torch_call_dispatcher(const char* name, const char* overload, StableIValue* stack,
                                     std::uint64_t built_version) {
  return keyway::abi::call_by_name(__func__, name, overload, stack, built_version);
}
AOTITorchError aoti_torch_call_dispatcher(const char* name, const char* overload, StableIValue* stack) {
  return keyway::abi::call_by_name(__func__, name, overload, stack, KEYWAY_ABI_VERSION);
}
