// ConformReport: what became of each operator and dtype on a device, and how it is written down.
#pragma once

#include <keyway/core/dtype/scalar_type.h>
#include <keyway/tools/keyway/fuzz/batch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

enum class ConformState : std::uint8_t {
  Pass,
  Fail,   // a call differs from the CPU's, or breaks a promise
  Crash,  // a call ended its process
  Timeout,
  KnownFailure,  // it fails, and is listed
  // None of these was judged.
  Unsupported,  // no kernel serves it, or it takes objects of registered classes
  Fallback,     // the CPU's kernels serve it
  Composition,  // it calls other operators, which are judged
  NotRun,       // no call was served
};
inline constexpr std::size_t kConformStates = static_cast<std::size_t>(ConformState::NotRun) + 1;
std::string_view to_string(ConformState state);
// Whether it makes the whole report one of failure. What was to be judged and was not is one, too.
constexpr bool is_bad(ConformState state) {
  return state == ConformState::Fail || state == ConformState::Crash || state == ConformState::Timeout ||
         state == ConformState::NotRun;
}

// The calls of an operator whose first tensor has one dtype.
struct ConformCell {
  std::array<std::size_t, kVerdicts> counts{};
  ConformState state = ConformState::NotRun;
  std::string problem;  // of the first call that failed, made as small as it goes
  std::string call;
  std::string repeat;  // the command line that makes it again

  std::size_t calls() const;
};

struct OperatorReport {
  std::string op = {};
  ConformState state = ConformState::NotRun;
  std::map<ScalarType, ConformCell> cells = {};  // empty where it was not judged
  double seconds = 0;
  std::string held_against = {};          // judges.h
  std::vector<std::string> not_run = {};  // what of it no served call was judged for: "Meta", "gradient"
};

struct ConformReport {
  std::string device;
  std::vector<OperatorReport> operators;
  std::vector<std::string> stale;  // lines of the known failures that passed, or name nothing
  double seconds = 0;

  std::array<std::size_t, kConformStates> counts() const;  // of operators
  std::size_t calls() const;
  bool is_good() const;
};

// For people: what failed, and a summary.
std::string text_of(const ConformReport& report);
std::string json_of(const ConformReport& report);
// JUnit's XML, as CI systems read it: a test case for each operator and dtype.
std::string junit_of(const ConformReport& report);
// A page: operators by dtypes, coloured, with the call that failed behind each.
std::string html_of(const ConformReport& report);

}  // namespace keyway::inline v1::tools
