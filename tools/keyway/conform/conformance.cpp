#include <keyway/tools/keyway/conform/conform_plan.h>
#include <keyway/tools/keyway/conform/conformance.h>
#include <keyway/tools/keyway/conform/judged.h>
#include <keyway/tools/keyway/conform/judges.h>
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
constexpr std::size_t kShrunk = 2;      // failures of an operator that are made smaller
constexpr std::size_t kMaxDeaths = 20;  // children that a judge of an operator may lose before it gives up

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
      : op_(op), options_(options), known_(known), judges_(op, options), plan_(plan_of(op, options)) {
    report_.op = op.entry().short_name();
    report_.held_against = to_string(oracle_of(op, options));
  }

  OperatorReport run() {
    const auto begin = std::chrono::steady_clock::now();
    for (const OperatorJudges::One& each : judges_.all()) {
      const std::size_t served = make_calls(each, std::min(options_.calls, each.most_calls));
      if (served == 0 && !each.about.empty()) report_.not_run.push_back(each.about);
    }
    finish();
    report_.seconds = seconds_since(begin);
    return std::move(report_);
  }

 private:
  // How many were served.
  std::size_t make_calls(const OperatorJudges::One& by, std::size_t count) {
    const Judge& judge = *by.judge;
    const Calls call = [this](std::size_t i) { return plan_.call(i); };
    std::size_t served = 0, deaths = 0;
    for (std::size_t first = 0; first < count && deaths < kMaxDeaths && !is_given_up_;) {
      const std::size_t last = std::min(first + kBatch, count);
      const BatchResult batch = run_batch(call, judge, first, last, options_.limits);
      const bool hung = batch.counts[static_cast<std::size_t>(Verdict::Hang)] > 0;  // which takes long: once will do
      is_given_up_ = is_given_up_ || hung;
      deaths += batch.next < last ? 1 : 0;
      served += static_cast<std::size_t>(std::count_if(batch.verdicts.begin(), batch.verdicts.end(), [](Verdict each) {
        return each == Verdict::Returned || is_failure(each);
      }));
      for (std::size_t i = first; i < batch.next; ++i) {
        ++report_.cells[dtype_of(plan_.call(i))].counts[static_cast<std::size_t>(batch.verdicts[i - first])];
      }
      for (const Failure& failure : batch.failures) note(by, failure);
      first = batch.next;
    }
    return served;
  }

  // The first failure of a dtype; of an operator's first dtypes that fail it is made as small as it goes.
  void note(const OperatorJudges::One& by, const Failure& failure) {
    ConformCell& cell = report_.cells[dtype_of(plan_.call(failure.index))];
    if (!cell.problem.empty()) return;
    const bool stays = failure.outcome.verdict == Verdict::Hang || by.about == "example";  // whose value is that call's
    const std::size_t tries = stays || shrunk_++ >= kShrunk ? 0 : 100;
    const ShrunkCall shrunk = shrink(*by.judge, {plan_.call(failure.index), failure.outcome}, tries);
    const std::string about = by.about.empty() ? "" : by.about + ": ";
    cell.problem = fmt::format("{}{}{}{}", about, to_string(shrunk.outcome.verdict),
                               shrunk.outcome.text.empty() ? "" : ": ", shrunk.outcome.text);
    cell.call = to_text(report_.op, argument_names(op_), shrunk.values);
    cell.repeat = fmt::format("{} conform --device {} --repeat {}:{}", options_.command, to_string(options_.device),
                              report_.op, failure.index);
    cell.repeat += options_.repeats_with;
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
  const OperatorJudges judges_;
  const ConformPlan plan_;
  OperatorReport report_;
  std::size_t shrunk_ = 0;
  bool is_given_up_ = false;
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
  const bool is_of_plugins = options.before && options.device == DeviceType::CPU;
  const bool any_kernel = options.judges_all || !options.pattern.empty() || is_of_plugins;
  for (const OperatorHandle& op : operators_like(options.pattern)) {
    if (is_about_devices(op) || !is_asked_about(op, options)) continue;
    if (const std::optional<ConformState> state = state_without_calls(op, options.device, any_kernel)) {
      report.operators.push_back({.op = op.entry().short_name(), .state = *state});
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
