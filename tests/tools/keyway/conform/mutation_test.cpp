// What `keyway conform` finds: each of the faults that mutants.cpp plants, and nothing where there is none.
#include <keyway/core/device/device_backend.h>
#include <keyway/dispatch/plugin/cpu_fallback.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/kernels_of_cpu.h>
#include <keyway/tools/keyway/conform/conformance.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace keyway;
using namespace keyway::testing;
using namespace keyway::tools;

namespace {

struct Fault {
  std::string op, kind;
};
std::vector<Fault> known_faults() {
  LoadedPlugin mutants = load_plugin(KEYWAY_TEST_MUTANTS);
  std::istringstream lines(Dispatcher::singleton().op("mutant::faults").typed<std::string()>().call());
  std::vector<Fault> faults;
  for (Fault fault; std::getline(lines, fault.op, '\t') && std::getline(lines, fault.kind);) faults.push_back(fault);
  return faults;
}

// A pattern that this operator alone fits.
std::string exactly(const std::string& op) { return "[" + op.substr(0, 1) + "]" + op.substr(1); }

ConformReport judge(const char* device, const std::string& pattern, std::size_t calls) {
  ConformOptions options;
  options.device = Device(device).type();
  options.pattern = pattern;
  options.calls = calls;
  return run_conformance(options, {}, [](const OperatorReport&) {});
}

// In a process of its own, which the fault is planted in.
bool is_found(std::size_t number, const Fault& fault) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("KEYWAY_FAULT", std::to_string(number).c_str(), 1);
    load_plugin(KEYWAY_TEST_MUTANTS).release();
    const ConformReport report = judge("mutant", exactly(fault.op), 3000);
    _exit(report.operators.size() == 1 && is_bad(report.operators[0].state) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The CPU's kernel draws from generators of the CPU alone.
bool draws(const OperatorHandle& op) {
  for (const Argument argument : op.schema().arguments()) {
    if (argument.name() == "generator") return true;
  }
  return false;
}

}  // namespace

TEST_CASE("conform finds at least 98 % of 60 faults or more, each in its operator") {
  const std::vector<Fault> faults = known_faults();
  CHECK(faults.size() >= 60);
  std::size_t found = 0;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const bool hit = is_found(i + 1, faults[i]);
    found += hit ? 1 : 0;
    if (!hit) WARN("not found in " << faults[i].op << ": " << faults[i].kind);
  }
  WARN(found << " of " << faults.size() << " faults are found");
  CHECK(found * 100 >= faults.size() * 98);
}

TEST_CASE("conform finds nothing where there is no fault") {
  const DeviceType type = register_device_type("faultless");
  const DeviceBackendRegistration backend = register_device_backend(type, {.device_count = 2});
  const DispatchKey key = runtime_key(Functionality::Dense, type);
  Library all(Library::Kind::Impl, "_", key);
  all.fallback(cpu_fallback);
  const RegistrationHandle fallback = all.commit(), kernels = Dispatcher::singleton().commit(
                                                        kernels_of_cpu(key, [](const auto&op) { return !draws(op); }));
  const ConformReport report = judge("faultless", "", 60);
  if (!report.is_good()) WARN(text_of(report));
  CHECK(report.is_good());
  CHECK(report.calls() > 20'000);
}
