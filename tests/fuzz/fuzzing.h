// What fuzzers share. A fuzzer defines LLVMFuzzerTestOneInput, as libFuzzer has it; clang links it with libFuzzer,
// other compilers with loop_main.cpp, which mutates without looking at what is covered.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace keyway::fuzzing {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Choices that follow from a number.
class Choices {
 public:
  explicit Choices(std::uint64_t number) : state_((number * 0x9E3779B97F4A7C15u) | 1) {}

  // An integer from 0 to `end`, which is left out and is positive.
  std::size_t below(std::size_t end) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::size_t>((state_ >> 16) % end);
  }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename List>
  const auto& of(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace keyway::fuzzing
