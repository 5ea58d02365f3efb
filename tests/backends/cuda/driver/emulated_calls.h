// What a kernel asks libraries for, as the emulated device counts it. On a real one nobody counts.
#pragma once

#include <keyway/tests/catch.h>

#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <utility>
#include <vector>

namespace keyway::inline v1::testing {

// Does `work`; each of the calls is made so often meanwhile, if the device is emulated.
inline void check_calls(const std::vector<std::pair<const char*, std::int64_t>>& expected,
                        const std::function<void()>& work) {
  const char* const file = std::getenv("KEYWAY_EMULATED_CUDA");
  if (file == nullptr) return work();
  void* const plugin = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(plugin != nullptr);
  const auto calls = reinterpret_cast<std::int64_t (*)(const char*)>(dlsym(plugin, "keyway_emulated_calls"));
  REQUIRE(calls != nullptr);
  std::vector<std::int64_t> before;
  for (const auto& [call, times] : expected) before.push_back(calls(call));
  work();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(expected[i].first);
    CHECK(calls(expected[i].first) - before[i] == expected[i].second);
  }
  dlclose(plugin);
}

}  // namespace keyway::inline v1::testing
