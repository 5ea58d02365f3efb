// An error crosses from the library to a program that was built apart from it.
#include <keyway/core/base/error.h>

#include <cstdio>
#include <string_view>

int main() {
  try {
    KEYWAY_CHECK(1 + 1 == 3, "one and one are {}, not {}", 1 + 1, 3);
  } catch (const keyway::Error& error) {
    std::puts(error.what());
    return std::string_view(error.what()) == "one and one are 2, not 3" ? 0 : 1;
  }
  return 1;
}
