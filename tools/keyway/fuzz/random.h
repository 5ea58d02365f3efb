// The random numbers of a campaign: splitmix64, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1::tools {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  // Requires: n > 0. A number below n.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  bool percent(std::size_t chance) { return below(100) < chance; }

 private:
  std::uint64_t state_;
};

}  // namespace keyway::inline v1::tools
