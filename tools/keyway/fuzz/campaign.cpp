#include <keyway/core/base/error.h>
#include <keyway/tools/keyway/fuzz/campaign.h>
#include <keyway/tools/keyway/fuzz/promise_judge.h>

#include <algorithm>
#include <charconv>
#include <fnmatch.h>
#include <numeric>

namespace keyway::inline v1::tools {

namespace {

// A crash costs what is left of its batch a new child; a leak, some batches more to find its call.
constexpr std::size_t kBatch = kMaxBatch;
// Children that an operator may lose before it is given up.
constexpr std::size_t kMaxDeaths = 50;

// The call in [begin, end) that leaks, given that one does: by halves.
std::size_t find_leak(const Calls& calls, const Judge& judge, std::size_t begin, std::size_t end,
                      const BatchLimits& limits) {
  while (end - begin > 1) {
    const std::size_t middle = begin + (end - begin) / 2;
    (run_batch(calls, judge, begin, middle, limits).leaked ? end : begin) = middle;
  }
  return begin;
}

class OperatorRun {
 public:
  OperatorRun(const OperatorHandle& op, const CampaignOptions& options, CampaignResult& result,
              const std::function<void(const Failure&)>& found)
      : op_(op),
        options_(options),
        result_(result),
        found_(found),
        plan_(op, options.seed),
        judge_(op, options.device) {}

  void run() {
    const Calls calls = [this](std::size_t i) { return plan_.call(i); };
    std::size_t deaths = 0;
    for (std::size_t begin = 0; begin < options_.calls && deaths < kMaxDeaths;) {
      const std::size_t end = std::min(begin + kBatch, options_.calls);
      BatchResult batch = run_batch(calls, judge_, begin, end, options_.limits);
      deaths += batch.next < end ? 1 : 0;
      if (batch.leaked) {
        ++batch.counts[static_cast<std::size_t>(Verdict::Leak)];
        batch.failures.back().index = find_leak(calls, judge_, begin, end, options_.limits);
      }
      for (std::size_t i = 0; i < kVerdicts; ++i) result_.counts[i] += batch.counts[i];
      for (Failure& failure : batch.failures) report(std::move(failure));
      begin = batch.next;
    }
  }

 private:
  void report(Failure failure) {
    failure.op = op_.entry().short_name();
    failure.call = plan_.text(failure.index);
    found_(failure);
  }

  const OperatorHandle& op_;
  const CampaignOptions& options_;
  CampaignResult& result_;
  const std::function<void(const Failure&)>& found_;
  CallPlan plan_;
  PromiseJudge judge_;
};

}  // namespace

std::size_t CampaignResult::calls() const {
  // A leak is one more thing to say of a call that returned.
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0}) -
         counts[static_cast<std::size_t>(Verdict::Leak)];
}

std::size_t CampaignResult::failures() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kVerdicts; ++i) count += is_failure(static_cast<Verdict>(i)) ? counts[i] : 0;
  return count;
}

std::vector<OperatorHandle> operators_like(const std::string& pattern) {
  const bool glob = pattern.find_first_of("*?[") != std::string::npos;
  std::vector<OperatorHandle> ops;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const std::string name = op.entry().short_name();
    const bool fits = glob ? fnmatch(pattern.c_str(), name.c_str(), 0) == 0 : name.find(pattern) != std::string::npos;
    if (fits) ops.push_back(op);
  }
  return ops;
}

CallNumber parse_call_number(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const char* const end = text.data() + text.size();
  std::size_t index = 0;
  const bool right = colon != std::string::npos && std::from_chars(text.data() + colon + 1, end, index).ptr == end;
  KEYWAY_CHECK(right, "--repeat takes OP:INDEX, as a report has it, not '{}'", text);
  return {Dispatcher::singleton().op(text.substr(0, colon)), index};
}

CampaignResult run_campaign(const std::vector<OperatorHandle>& ops, const CampaignOptions& options,
                            const std::function<void(const Failure&)>& found) {
  CampaignResult result;
  for (const OperatorHandle& op : ops) {
    OperatorRun(op, options, result, found).run();
    ++result.operators;
  }
  return result;
}

}  // namespace keyway::inline v1::tools
