// A 64-bit hash of a schema: of its canonical text, so equal schemas have equal hashes on every machine.
#pragma once

#include <keyway/core/schema/printer.h>

#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

// FNV-1a. The value is stable: it may be written to files and compared between libraries.
class Fnv1a {
 public:
  constexpr void append(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

constexpr std::uint64_t hash(FunctionSchema schema) {
  Fnv1a hash;
  append_schema(hash, schema);
  return hash.value();
}

}  // namespace keyway::inline v1
