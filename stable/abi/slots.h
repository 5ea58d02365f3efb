// Slots: values of boxed calls as the 64 bits of the ABI, by the types of a schema.
#pragma once

#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/ivalue.h>
#include <keyway/stable/abi.h>

#include <cstddef>
#include <exception>

namespace keyway::inline v1::abi {

// The value in a slot, which is empty afterwards: what it refers to is deleted. Throws keyway::Error(Type).
IValue take_slot(SchemaType type, StableIValue slot);
// A slot that refers to the value. Throws keyway::Error(NotImplemented) for a type that has no slot.
StableIValue make_slot(SchemaType type, IValue value);

// Does something with each number below `count`, also with those behind one that throws; then throws what the first one
// threw: for slots, each of which is to be emptied.
template <typename F>
void for_each_index(std::size_t count, const F& f) {
  std::exception_ptr first;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      f(i);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

// Numbers of the ABI as enumerators. Throw keyway::Error(Value) for others.
ScalarType dtype_of(std::int64_t number);
Layout layout_of(std::int64_t number);
MemoryFormat memory_format_of(std::int64_t number);
Device device_of(std::int64_t type, std::int64_t index);

}  // namespace keyway::inline v1::abi
