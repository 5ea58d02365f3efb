// What functions that stand as a key's fallback have in common.
#pragma once

#include <keyway/dispatch/call/operator_entry.h>

#include <algorithm>
#include <iterator>

namespace keyway::inline v1 {

// Calls change(values) with the operator's arguments, which it makes the results, and puts these in their place.
// Requires: the arguments are on top of the stack.
template <typename F>
void with_arguments(const OperatorEntry& op, Stack& stack, F&& change) {
  const auto first = stack.end() - static_cast<std::ptrdiff_t>(op.info().boxed.arguments);
  Stack values(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
  stack.erase(first, stack.end());
  change(values);
  std::ranges::move(values, std::back_inserter(stack));
}

// Without those by which graphs are captured, which watch calls and change nothing.
inline DispatchKeySet unwatched(DispatchKeySet keys) {
  return keys.remove(Functionality::Tracer).remove(Functionality::Functionalize);
}

// Whether a call with these keys runs a function that is written with other operators, and differentiated as what it
// calls.
inline bool is_written_with_others(const OperatorEntry& op, DispatchKeySet keys) {
  const Table& table = op.table();
  return table.info[table.find_past_mark(unwatched(keys)).kernel].key == DispatchKey::CompositeImplicitAutograd;
}

}  // namespace keyway::inline v1
