// run_conformance: judges the operators of a device, call by call, in child processes.
#pragma once

#include <keyway/tools/keyway/conform/examples.h>
#include <keyway/tools/keyway/conform/known_failures.h>
#include <keyway/tools/keyway/conform/registry_before.h>
#include <keyway/tools/keyway/conform/report.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace keyway::inline v1::tools {

struct ConformOptions {
  DeviceType device = DeviceType::CPU;
  std::string pattern;       // operators whose name has this in it, or fits it
  std::size_t calls = 1000;  // of each operator
  std::uint64_t seed = 0;
  // Also operators that the fallback to the CPU serves, and those that call other operators. Where a pattern is given,
  // these are judged in any case.
  bool judges_all = false;
  // What was registered before plug-ins were loaded. With it, a run is about what they registered; null: about all. Of
  // the CPU, their own operators are held against themselves, and their kernels of others against those before.
  std::shared_ptr<const RegistryBefore> before;
  Examples examples;
  std::string command;       // that loads the backend, for lines to repeat: "keyway --plugin libnpu.so"
  std::string repeats_with;  // further options of those lines
  BatchLimits limits;
};

// The calls are those of ConformPlan, each judged by those of judges.h. `done` hears of each
// operator as soon as it was judged.
ConformReport run_conformance(const ConformOptions& options, KnownFailures known,
                              const std::function<void(const OperatorReport&)>& done);

}  // namespace keyway::inline v1::tools
