// FNV-1a, a hash of bytes whose value is the same on every machine: it may be written to files and compared between
// libraries.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

class Fnv1a {
 public:
  constexpr void append(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

constexpr std::uint64_t fnv1a(std::string_view bytes) {
  Fnv1a hash;
  hash.append(bytes);
  return hash.value();
}

}  // namespace keyway::inline v1
