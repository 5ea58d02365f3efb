// A 64-bit hash of a schema: of its canonical text, so equal schemas have equal hashes on every machine.
#pragma once

#include <keyway/core/base/hash.h>
#include <keyway/core/schema/printer.h>

#include <cstdint>

namespace keyway::inline v1 {

constexpr std::uint64_t hash(FunctionSchema schema) {
  Fnv1a hash;
  append_schema(hash, schema);
  return hash.value();
}

}  // namespace keyway::inline v1
