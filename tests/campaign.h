// How often tests of random cases repeat themselves: KEYWAY_CAMPAIGN=long in the environment asks for what a night has
// time for (tools/nightly.sh).
#pragma once

#include <concepts>
#include <cstdlib>
#include <string_view>

namespace keyway::inline v1::testing {

// `count`, or `times` as many in a long campaign. The first `count` cases are the same in both.
template <std::integral Count>
Count campaign(Count count, Count times = 10) {
  const char* wanted = std::getenv("KEYWAY_CAMPAIGN");
  return wanted != nullptr && std::string_view(wanted) == "long" ? count * times : count;
}

}  // namespace keyway::inline v1::testing
