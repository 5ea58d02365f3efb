// Where the test's plug-ins lie.
#pragma once

#include <filesystem>
#include <string>

namespace keyway::inline v1::testing {

inline std::filesystem::path plugin_module(const std::string& name) {
  return std::filesystem::path(KEYWAY_TEST_PLUGINS) / ("libkeyway_test_" + name + ".so");
}

}  // namespace keyway::inline v1::testing
