// What `keyway conform` finds: each of the faults that mutants.cpp and stream_mutants.cpp plant, and nothing where
// there is none.
#include <keyway/core/device/device_backend.h>
#include <keyway/dispatch/plugin/cpu_fallback.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/kernels_of_cpu.h>
#include <keyway/tools/keyway/conform/conformance.h>

#include <cstdio>
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

// A plug-in that plants faults in the kernels of a device type.
struct Mutants {
  const char* file;
  const char* device;
  std::size_t calls;  // that each operator is judged by
};
constexpr Mutants kMutants[] = {{KEYWAY_TEST_MUTANTS, "mutant", 3000},
                                {KEYWAY_TEST_STREAM_MUTANTS, "streammutant", 100}};

struct Fault {
  std::string op, kind;
};
std::vector<Fault> known_faults(const Mutants& of) {
  LoadedPlugin mutants = load_plugin(of.file);
  std::istringstream lines(
      Dispatcher::singleton().op(std::string(of.device) + "::faults").typed<std::string()>().call());
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
bool is_found(const Mutants& mutants, std::size_t number, const std::string& op) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("KEYWAY_FAULT", std::to_string(number).c_str(), 1);
    load_plugin(mutants.file).release();
    const ConformReport report = judge(mutants.device, exactly(op), mutants.calls);
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

// Of the 60 faults and more every fourth; all of them in a long campaign.
TEST_CASE("conform finds at least 98 % of faults, each in its operator") {
  const std::size_t wanted = campaign<std::size_t>(15, 4), step = 60 / wanted;
  std::size_t planted = 0, found = 0;
  for (const Mutants& mutants : kMutants) {
    const std::vector<Fault> faults = known_faults(mutants);
    for (std::size_t i = 0; i < faults.size(); i += step) {
      ++planted;
      const bool hit = is_found(mutants, i + 1, faults[i].op);
      found += hit ? 1 : 0;
      if (!hit) WARN("not found in " << faults[i].op << ": " << faults[i].kind);
    }
  }
  WARN(found << " of " << planted << " faults are found");
  CHECK(planted >= wanted);
  CHECK(found * 100 >= planted * 98);
}

TEST_CASE("conform finds nothing in kernels without a fault that streams, devices and memory could show") {
  const pid_t child = fork();  // whose plug-in is never unloaded
  if (child == 0) {
    load_plugin(KEYWAY_TEST_STREAM_MUTANTS).release();
    const ConformReport report = judge("streammutant", "", 60);
    if (!report.is_good()) std::fputs(text_of(report).c_str(), stderr);
    _exit(report.is_good() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
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
