// What `keyway conform` finds in a library of operators and in single kernels: each fault that operator_mutants.cpp
// plants, by its operator and kind, and nothing where there is none.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/conformance.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace keyway;
using namespace keyway::tools;

namespace {

struct OperatorFault {
  std::string op, kind, found;  // `found` is a part of what conform says
};
std::vector<OperatorFault> known_operator_faults() {
  LoadedPlugin plugin = load_plugin(KEYWAY_TEST_OPERATOR_MUTANTS);
  std::istringstream lines(Dispatcher::singleton().op("opmutants::faults").typed<std::string()>().call());
  std::vector<OperatorFault> faults;
  for (OperatorFault fault; std::getline(lines, fault.op, '\t') && std::getline(lines, fault.kind, '\t') &&
                            std::getline(lines, fault.found);) {
    faults.push_back(fault);
  }
  return faults;
}

// Of a process of its own, which may take long and whose plug-in is never unloaded.
template <typename F>
bool is_true_in_a_process(F f) {
  const pid_t child = fork();
  if (child == 0) _exit(f() ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Of what the plug-in registers, those that fit the pattern. The plug-in stays: for a process of its own.
ConformReport judge_plugin(const std::string& pattern, std::size_t calls) {
  ConformOptions options;
  options.before = std::make_shared<RegistryBefore>();
  load_plugin(KEYWAY_TEST_OPERATOR_MUTANTS).release();
  options.pattern = pattern;
  options.calls = calls;
  return run_conformance(options, {}, [](const OperatorReport&) {});
}

// Whether the report is of that operator alone, which fails as it should.
bool names(const ConformReport& report, const OperatorFault& fault) {
  if (report.operators.size() != 1 || report.operators[0].op != fault.op || report.is_good()) return false;
  const auto& cells = report.operators[0].cells;
  return std::any_of(cells.begin(), cells.end(),
                     [&](const auto& cell) { return cell.second.problem.find(fault.found) != std::string::npos; });
}

bool is_operator_fault_found(std::size_t number, const OperatorFault& fault) {
  return is_true_in_a_process([&] {
    setenv("KEYWAY_FAULT", std::to_string(number).c_str(), 1);
    return names(judge_plugin("[" + fault.op.substr(0, 1) + "]" + fault.op.substr(1), 1000), fault);
  });
}

}  // namespace

TEST_CASE("conform finds every fault of an operator library or a single kernel, by its operator and kind") {
  const std::vector<OperatorFault> faults = known_operator_faults();
  CHECK(faults.size() >= 30);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    INFO(faults[i].op << ": " << faults[i].kind);
    CHECK(is_operator_fault_found(i + 1, faults[i]));
  }
}

TEST_CASE("conform finds nothing in operators and kernels that are right, and judges no others") {
  CHECK(is_true_in_a_process([] {
    const ConformReport report = judge_plugin("", 1000);
    if (!report.is_good()) std::fputs(text_of(report).c_str(), stderr);
    const auto is_there = [&](const char* op, const char* against) {
      return std::any_of(report.operators.begin(), report.operators.end(), [&](const OperatorReport& each) {
        return each.op == op && each.held_against == against && each.state == ConformState::Pass;
      });
    };
    return report.is_good() && report.operators.size() < 20 && is_there("opmutants::squares", "itself") &&
           is_there("mul_.Tensor", "the kernel before") && is_there("sigmoid", "the kernel before");
  }));
}
