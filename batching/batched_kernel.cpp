#include <keyway/batching/batched_kernel.h>
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/fallback.h>
#include <keyway/dispatch/registry/library.h>

namespace keyway::inline v1::batching {
namespace {

bool is_random(const OperatorEntry& op) { return op.has_tag("nondeterministic_seeded"); }

// The innermost level that a tensor is batched at; null if none is.
const VmapLevel* level_of_tensors(Stack& arguments) {
  const VmapLevel* innermost = nullptr;
  for_each_tensor(arguments, [&](const TensorBase& tensor) {
    const BatchedValue* batched = batched_value(tensor);
    if (batched == nullptr) return;
    const VmapLevel* level = find_level(batched->level());
    KEYWAY_CHECK(level != nullptr,
                 "vmap: a tensor of a single example is used outside of the vmap that it belongs to, or in another "
                 "thread");
    if (innermost == nullptr || level->id() > innermost->id()) innermost = level;
  });
  return innermost;
}

// What is written to must have memory for each example.
void check_writes(VmapCall& call) {
  const ArgumentList arguments = call.op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_write()) continue;
    if (arguments[i].is_out())
      throw CannotBatch("an out= tensor cannot take the results of all examples: use the one that is returned");
    const auto is_shared = [&](const TensorBase& tensor) { return value_at(tensor, call.level) == nullptr; };
    if (!any_tensor(call.stack[i], is_shared)) continue;
    throw CannotBatch(
        "'" + std::string(arguments[i].name()) +
        "' is the same tensor for all examples, and cannot take a value for each of them: use the operator that "
        "returns a new tensor, or make it one of the inputs of vmap");
  }
}

// Whether one call of a random operator for all examples draws other numbers for each, as is asked.
bool draws_for_each(VmapCall& call) {
  const auto is_of_batch = [&](const TensorBase& tensor) { return value_at(tensor, call.level) != nullptr; };
  return call.level.randomness() == Randomness::Different && any_tensor_in(call.stack, is_of_batch);
}

// By the operator's rule; true if it served.
bool call_by_rule(VmapCall& call) {
  const VmapRule rule = rule_of(call.op);
  if (rule == nullptr || (is_random(call.op) && !draws_for_each(call))) return false;
  VmapCall all{call.op, call.level, call.stack};
  try {
    if (!rule(all)) return false;
  } catch (const Error& error) {
    // Of shapes that the caller does not know, or too strict: the calls for each example decide.
    if (call.op.schema().is_mutable() || error.kind() == ErrorKind::OutOfMemory || error.kind() == ErrorKind::Internal)
      throw;
    return false;
  }
  call.stack = std::move(all.stack);
  return true;
}

void check_is_no_view(const VmapCall& call) {
  const FunctionSchema& schema = call.op.schema();
  if (!schema.is_alias() || schema.is_mutable()) return;
  Stack example = example_of(call, 0);
  call_boxed(call.op, example);
  throw CannotBatch("there is no view of all examples' tensors for this call");
}

// The results of the operator, of values that begin with the batch.
Stack results_of(const VmapCall& call, const Stack& given) {
  const ArgumentList arguments = call.op.schema().arguments();
  const ArgumentList returns = call.op.schema().returns();
  Stack results = call.stack;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i < returns.size() && returns[i].is_write()) {
      std::size_t written = 0;
      while (written + 1 < arguments.size() && arguments[written].type().alias() != returns[i].type().alias())
        ++written;
      results[i] = given[written];
      continue;
    }
    update_tensors({&results[i], 1}, [&](TensorBase& value) {
      // A result that was not asked for has no elements, whatever the batch.
      if (value.dim() != 1 || value.numel() != 0) value = make_batched(std::move(value), call.level);
    });
  }
  return results;
}

// For all examples of a level: the arguments become the results.
void call_for_all(const OperatorEntry& op, const VmapLevel& level, Stack& values) {
  VmapCall call{op, level, values};
  check_writes(call);
  {
    const OutsideLevelGuard outside(&level);
    if (!call_by_rule(call)) {
      check_is_no_view(call);
      call_each(call);
    }
  }
  values = results_of(call, values);
}

// What the function calls is batched. Where that cannot be, since it writes to a tensor of its own that is the same for
// all examples, or asks for a number, it is run for each.
void call_what_it_calls(const OperatorEntry& op, DispatchKeySet below, const VmapLevel* level, Stack& values) {
  const bool is_pure = !op.schema().is_mutable() && !op.schema().is_alias();
  if (is_random(op) && level == nullptr) level = innermost_level();
  if (level == nullptr || !is_pure) return redispatch_boxed(op, below, values);
  Stack arguments = values;
  try {
    redispatch_boxed(op, below, values);
  } catch (const CannotBatch&) {
    call_for_all(op, *level, arguments);
    values = std::move(arguments);
  }
}

// Random operators draw for the innermost level, whatever their tensors. True if the call was made.
bool call_random(const OperatorEntry& op, const VmapLevel* level, Stack& values) {
  const VmapLevel* innermost = innermost_level();
  if (innermost == nullptr || !is_random(op)) return false;
  KEYWAY_CHECK(innermost->randomness() != Randomness::Error,
               "vmap: the operator is random; say with randomness 'same' or 'different' whether all examples get the "
               "same numbers");
  if (innermost->randomness() == Randomness::Same && level != innermost) {
    const OutsideLevelGuard outside(innermost);
    call_boxed(op, values);
  } else {
    call_for_all(op, *innermost, values);
  }
  return true;
}

// The arguments become the results.
void call_values(const OperatorEntry& op, DispatchKeySet below, Stack& values) {
  const VmapLevel* level = level_of_tensors(values);
  if (level != nullptr && change_view(op, values)) return;
  // What the function calls is batched, differentiated forward, and recorded in graphs.
  if (rule_of(op) == nullptr && is_written_with_others(op, below.remove(Functionality::ForwardAD)))
    return call_what_it_calls(op, unwatched(below), level, values);
  if (call_random(op, level, values)) return;
  if (level != nullptr) return call_for_all(op, *level, values);
  const OutsideLevelGuard outside(nullptr);
  redispatch_boxed(op, below, values);
}

}  // namespace

void call_batched(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  with_arguments(op, stack, [&](Stack& values) { call_values(op, keys.remove(Functionality::Batched), values); });
}

void register_kernels() {
  static const bool registered = [] {
    Library library(Library::Kind::Impl, "_", DispatchKey::Batched);
    library.fallback(&call_batched);
    library.commit().release();
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace keyway::inline v1::batching
