// A part of newer versions of the C++ library that PyTorch's libraries export beside the ABI, and that libraries in
// wheels therefore find where the system's C++ library is older: std::string::_M_replace_cold, of GCC 13.
#include <keyway/stable/abi.h>

#include <cstddef>
#include <cstring>
#include <string>

// Replaces `count` characters at `at` by the `new_count` at `text`, which may lie within the string, where there is
// room; `behind` characters follow those that are replaced.
extern "C" KEYWAY_ABI_EXPORT __attribute__((weak)) void
_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm(void* string, char* at,
                                                                                std::size_t count, const char* text,
                                                                                std::size_t new_count,
                                                                                std::size_t behind) {
  static_cast<void>(string);
  const std::string copy(text, new_count);
  std::memmove(at + new_count, at + count, behind);
  std::memcpy(at, copy.data(), new_count);
}
