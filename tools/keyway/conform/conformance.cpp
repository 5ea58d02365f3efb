#include <keyway/tools/keyway/conform/conditions.h>
#include <keyway/tools/keyway/conform/conform_judge.h>
#include <keyway/tools/keyway/conform/conform_plan.h>
#include <keyway/tools/keyway/conform/conformance.h>
#include <keyway/tools/keyway/conform/judged.h>
#include <keyway/tools/keyway/conform/shrink.h>
#include <keyway/tools/keyway/fuzz/campaign.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

constexpr std::size_t kBatch = 500;
constexpr std::size_t kShrunk = 2;            // failures of an operator that are made smaller
constexpr std::size_t kUnderConditions = 20;  // calls that are also made under other conditions (conditions.h)
constexpr std::size_t kMaxDeaths = 20;        // children that an operator may lose before it is given up

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// That of the first tensor; of a call without tensors the default one.
ScalarType dtype_of(const std::vector<Value>& values) {
  for (const Value& value : values) {
    for (const TensorRecipe& recipe : value.tensors) {
      if (recipe.defined) return recipe.dtype;
    }
  }
  return ScalarType::Float;
}

ConformState state_of(const ConformCell& cell) {
  const auto count = [&](Verdict verdict) { return cell.counts[static_cast<std::size_t>(verdict)]; };
  if (count(Verdict::Crash) > 0) return ConformState::Crash;
  if (count(Verdict::Hang) > 0) return ConformState::Timeout;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (is_failure(static_cast<Verdict>(i)) && cell.counts[i] > 0) return ConformState::Fail;
  }
  return count(Verdict::Returned) > 0 ? ConformState::Pass : ConformState::NotRun;
}

class OperatorRun {
 public:
  OperatorRun(const OperatorHandle& op, const ConformOptions& options, KnownFailures& known)
      : op_(op), options_(options), known_(known), plan_(op, options.seed) {
    report_.op = op.entry().short_name();
  }

  OperatorReport run() {
    const auto begin = std::chrono::steady_clock::now();
    make_calls(ConformJudge(op_, options_.device), options_.calls);
    if (options_.device != DeviceType::CPU) {
      const std::size_t calls = std::min(options_.calls, kUnderConditions);
      for (const auto make_judge : {make_stream_judge, make_other_device_judge, make_memory_judge}) {
        make_calls(*make_judge(op_, options_.device), calls);
      }
    }
    finish();
    report_.seconds = seconds_since(begin);
    return std::move(report_);
  }

 private:
  void make_calls(const Judge& judge, std::size_t count) {
    const Calls call = [this](std::size_t i) { return plan_.call(i); };
    for (std::size_t first = 0; first < count && deaths_ < kMaxDeaths;) {
      const std::size_t last = std::min(first + kBatch, count);
      const BatchResult batch = run_batch(call, judge, first, last, options_.limits);
      const bool hung = batch.counts[static_cast<std::size_t>(Verdict::Hang)] > 0;  // which takes long: once will do
      deaths_ += hung ? kMaxDeaths : batch.next < last ? 1 : 0;
      for (std::size_t i = first; i < batch.next; ++i) {
        ++report_.cells[dtype_of(plan_.call(i))].counts[static_cast<std::size_t>(batch.verdicts[i - first])];
      }
      for (const Failure& failure : batch.failures) note(judge, failure);
      first = batch.next;
    }
  }

  // The first failure of a dtype; of an operator's first dtypes that fail it is made as small as it goes.
  void note(const Judge& judge, const Failure& failure) {
    ConformCell& cell = report_.cells[dtype_of(plan_.call(failure.index))];
    if (!cell.problem.empty()) return;
    const std::size_t tries = failure.outcome.verdict == Verdict::Hang || shrunk_++ >= kShrunk ? 0 : 100;
    const ShrunkCall shrunk = shrink(judge, {plan_.call(failure.index), failure.outcome}, tries);
    cell.problem = fmt::format("{}{}{}", to_string(shrunk.outcome.verdict), shrunk.outcome.text.empty() ? "" : ": ",
                               shrunk.outcome.text);
    cell.call = to_text(report_.op, argument_names(op_), shrunk.values);
    cell.repeat = fmt::format("{} conform --device {} --repeat {}:{}", options_.command, to_string(options_.device),
                              report_.op, failure.index);
    if (options_.seed != 0) cell.repeat += fmt::format(" --seed {}", options_.seed);
  }

  void finish() {
    for (auto& [dtype, cell] : report_.cells) {
      cell.state = state_of(cell);
      if (is_bad(cell.state) && cell.state != ConformState::NotRun && known_.has(report_.op, dtype)) {
        cell.state = ConformState::KnownFailure;
      }
    }
    // The worst of its dtypes; one that no call of was served is the kernel's choice.
    const auto any = [&](ConformState state) {
      return std::any_of(report_.cells.begin(), report_.cells.end(),
                         [&](const auto& cell) { return cell.second.state == state; });
    };
    for (const ConformState state : {ConformState::Crash, ConformState::Timeout, ConformState::Fail,
                                     ConformState::KnownFailure, ConformState::Pass, ConformState::NotRun}) {
      if (!any(state)) continue;
      report_.state = state;
      return;
    }
  }

  const OperatorHandle& op_;
  const ConformOptions& options_;
  KnownFailures& known_;
  const ConformPlan plan_;
  OperatorReport report_;
  std::size_t shrunk_ = 0;
  std::size_t deaths_ = 0;
};

// Memory of one device type is pinned, and of another is not.
bool is_about_devices(const OperatorHandle& op) {
  return op.name() == "keyway::is_pinned" || op.name() == "keyway::pin_memory";
}

}  // namespace

ConformReport run_conformance(const ConformOptions& options, KnownFailures known,
                              const std::function<void(const OperatorReport&)>& done) {
  const auto begin = std::chrono::steady_clock::now();
  ConformReport report;
  report.device = to_string(options.device);
  const bool any_kernel = options.judges_all || !options.pattern.empty();
  for (const OperatorHandle& op : operators_like(options.pattern)) {
    if (is_about_devices(op)) continue;
    if (const std::optional<ConformState> state = state_without_calls(op, options.device, any_kernel)) {
      report.operators.push_back({op.entry().short_name(), *state, {}, 0});
    } else {
      report.operators.push_back(OperatorRun(op, options, known).run());
    }
    done(report.operators.back());
  }
  report.stale = known.unused();
  report.seconds = seconds_since(begin);
  return report;
}

}  // namespace keyway::inline v1::tools
