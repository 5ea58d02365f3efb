// keyway fuzz: boundary calls against operators.
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/dispatch/call/boxed_arguments.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/keyway/fuzz/campaign.h>
#include <keyway/tools/keyway/numbers.h>
#include <keyway/tools/terminal/terminal.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace keyway::inline v1::tools {

namespace {

struct FuzzOptions {
  CampaignOptions campaign;
  std::string pattern;
  std::string part;    // I/N
  std::string repeat;  // OP:INDEX
  bool list = false;
  std::size_t shown = 3;  // failures of one kind of an operator
};

// The I-th of N parts of the operators, which all take about as long; all of them without a part. Throws keyway::Error
// for what is no part.
std::vector<OperatorHandle> part_of(const std::vector<OperatorHandle>& ops, const std::string& part) {
  if (part.empty()) return ops;
  std::size_t i = 0, n = 0;
  const char* const end = part.data() + part.size();
  const auto first = std::from_chars(part.data(), end, i);
  const bool slash = first.ptr != end && *first.ptr == '/';
  const bool whole = slash && std::from_chars(first.ptr + 1, end, n).ptr == end;
  KEYWAY_CHECK(whole && i >= 1 && i <= n, "--part takes I/N, as 1/2, not '{}'", part);
  std::vector<OperatorHandle> taken;
  for (std::size_t k = i - 1; k < ops.size(); k += n) taken.push_back(ops[k]);
  return taken;
}

// The calls in text, none of them made.
ExitStatus list_calls(const std::vector<OperatorHandle>& ops, const CampaignOptions& options) {
  for (const OperatorHandle& op : ops) {
    const CallPlan plan(op, options.seed);
    for (std::size_t i = 0; i < options.calls; ++i) {
      fmt::print("{}:{} {}\n", op.entry().short_name(), i, plan.text(i));
    }
  }
  return ExitStatus::Ok;
}

// One call in this process, where a debugger sees it.
ExitStatus repeat_call(const FuzzOptions& options) {
  const auto [op, index] = parse_call_number(options.repeat);
  const CallPlan plan(op, options.campaign.seed);
  fmt::print("{}\n", plan.text(index));
  std::fflush(stdout);
  const Outcome outcome = repeat(op, plan, index, options.campaign.device);
  fmt::print("{}{}{}\n", to_string(outcome.verdict), outcome.text.empty() ? "" : ": ", outcome.text);
  return is_failure(outcome.verdict) ? ExitStatus::Failed : ExitStatus::Ok;
}

void print_summary(const CampaignResult& result, double seconds) {
  const auto count = [&](Verdict verdict) { return result.counts[static_cast<std::size_t>(verdict)]; };
  fmt::print("{} operators, {} calls in {:.1f} s: {} returned, {} refused, {} failed\n", result.operators,
             result.calls(), seconds, count(Verdict::Returned), count(Verdict::Refused), result.failures());
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (is_failure(verdict) && count(verdict) > 0) fmt::print("  {:<24} {}\n", to_string(verdict), count(verdict));
  }
}

// Whether there is such a device, and tensors can be copied to it; says so where not. Asked in a process of its own:
// one that has used a device cannot have children that do.
bool is_there(DeviceType type) {
  if (type == DeviceType::CPU) return true;
  const pid_t child = fork();
  if (child == 0) {
    const ExitStatus status = guarded("fuzz", ExitStatus::Failed, [&] {
      start_device(type);
      const Tensor there(make_tensor({1}, kFloat, Device(type, 0)));
      there.copy_(Tensor(make_tensor({1}, kFloat, DeviceType::CPU)));  // as every call's arguments get there
      return ExitStatus::Ok;
    });
    _exit(static_cast<int>(status));
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

ExitStatus run_fuzz(const FuzzOptions& options) {
  if (!options.repeat.empty()) return guarded("fuzz", ExitStatus::Usage, repeat_call, options);
  std::vector<OperatorHandle> ops = part_of(operators_like(options.pattern), options.part);
  const std::size_t unsupported =
      std::erase_if(ops, [](const OperatorHandle& op) { return takes_objects(op.schema()); });
  if (unsupported > 0)
    fmt::print("unsupported: {} operators take objects of registered classes, which are not made up\n", unsupported);
  if (ops.empty()) {
    fmt::print(stderr, "keyway fuzz: no operator fits\n");
    return ExitStatus::Failed;
  }
  if (options.list) return list_calls(ops, options.campaign);
  if (!is_there(options.campaign.device)) return ExitStatus::Failed;
  const Colours colours(stdout);
  std::map<std::pair<std::string, Verdict>, std::size_t> seen;
  const auto begin = std::chrono::steady_clock::now();
  const auto print_failure = [&](const Failure& failure) {
    if (++seen[{failure.op, failure.outcome.verdict}] > options.shown) return;
    fmt::print("{}:{} {}: {}\n    {}\n", failure.op, failure.index,
               colours(Colour::Red, to_string(failure.outcome.verdict)), failure.outcome.text, failure.call);
    std::fflush(stdout);
  };
  const CampaignResult result = run_campaign(ops, options.campaign, print_failure);
  print_summary(result, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return result.failures() == 0 ? ExitStatus::Ok : ExitStatus::Failed;
}

}  // namespace

void add_fuzz_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("fuzz", "Call operators with boundary values and judge what they do");
  auto options = std::make_shared<FuzzOptions>();
  command->add_option("--calls", options->campaign.calls, "Calls of each operator (default 2000)")
      ->check(not_negative());
  command->add_option("--seed", options->campaign.seed, "Same seed, same calls (default 0)")->check(not_negative());
  command->add_option("--op", options->pattern, "Only operators whose name has this in it, or fits it: 'add*'");
  command->add_option("--part", options->part, "The I-th of N parts of the operators, I/N: for several processes");
  command->add_option("--shown", options->shown, "Failures to print of each kind and operator (default 3)")
      ->check(not_negative());
  command->add_option_function<std::string>(
      "--device", [options](const std::string& name) { options->campaign.device = Device(name).type(); },
      "Where the tensors are: cpu (default), cuda, or what a plug-in brings");
  command->add_flag("--list", options->list, "Print the calls and make none");
  command->add_option("--repeat", options->repeat, "Make one call, OP:INDEX of a report, in this process");
  command->footer(
      "Each argument takes boundary values of its type, alone and with others; calls are made in child processes.\n"
      "A call is to return consistent results, as Meta foresees them, or to throw keyway::Error that names the\n"
      "operator and the argument, with all arguments as before. Exit status: 0, or 1 if a call did neither.");
  command->callback([options, &status] { status = run_fuzz(*options); });
}

}  // namespace keyway::inline v1::tools
