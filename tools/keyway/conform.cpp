// keyway conform: judges the operators of a backend by the CPU's.
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/keyway/conform/conditions.h>
#include <keyway/tools/keyway/conform/conform_judge.h>
#include <keyway/tools/keyway/conform/conform_plan.h>
#include <keyway/tools/keyway/conform/conformance.h>
#include <keyway/tools/keyway/conform/speed.h>
#include <keyway/tools/keyway/fuzz/campaign.h>
#include <keyway/tools/keyway/numbers.h>

#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

namespace {

struct CommandOptions {
  ConformOptions conform;
  std::string known, json, junit, html;  // files
  std::string repeat;                    // OP:INDEX
  bool speed = false;
};

KnownFailures read_known(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  KEYWAY_CHECK(file.good(), "cannot read {}", path);
  return KnownFailures(text.str());
}

void write(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << text << std::flush;
  KEYWAY_CHECK(file.good(), "cannot write {}", path);
}

// One call in this process, where a debugger sees it.
ExitStatus repeat_call(const CommandOptions& options) {
  const auto [op, index] = parse_call_number(options.repeat);
  const ConformPlan plan(op, options.conform.seed);
  fmt::print("{}\n", plan.text(index));
  std::fflush(stdout);
  const DeviceType device = options.conform.device;
  std::vector<std::unique_ptr<Judge>> judges;
  judges.push_back(std::make_unique<ConformJudge>(op, device));
  if (device != DeviceType::CPU) {
    for (const auto make_judge : {make_stream_judge, make_other_device_judge, make_memory_judge}) {
      judges.push_back(make_judge(op, device));
    }
  }
  for (const std::unique_ptr<Judge>& judge : judges) {
    const Outcome outcome = judge->judge(plan.call(index));
    fmt::print("{}{}{}\n", to_string(outcome.verdict), outcome.text.empty() ? "" : ": ", outcome.text);
    if (is_failure(outcome.verdict)) return ExitStatus::Failed;
  }
  return ExitStatus::Ok;
}

ExitStatus conform(const CommandOptions& options) {
  if (!options.repeat.empty()) return repeat_call(options);
  if (options.speed) {
    std::fputs(text_of(measure_speed(options.conform.device, options.conform.pattern)).c_str(), stdout);
    return ExitStatus::Ok;
  }
  const KnownFailures known = read_known(options.known);
  const ConformReport report = run_conformance(options.conform, known, [](const OperatorReport&) {});
  std::fputs(text_of(report).c_str(), stdout);
  write(options.json, json_of(report));
  write(options.junit, junit_of(report));
  write(options.html, html_of(report));
  return report.is_good() ? ExitStatus::Ok : ExitStatus::Failed;
}

}  // namespace

void add_conform_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("conform", "Judge a backend's operators by what the CPU gives");
  auto options = std::make_shared<CommandOptions>();
  command->add_option_function<std::string>(
      "--device", [options](const std::string& name) { options->conform.device = Device(name).type(); },
      "The device type to judge: cpu (default), cuda, or what a plug-in brings");
  command->add_option("--op", options->conform.pattern, "Only operators whose name has this in it, or fits it: 'add*'");
  command->add_option("--calls", options->conform.calls, "Calls of each operator (default 1000)")->check(above_0());
  command->add_option("--seed", options->conform.seed, "Same seed, same calls (default 0)")->check(not_negative());
  command->add_flag("--all", options->conform.judges_all,
                    "Judge what the fallback to the CPU serves, and what calls other operators, too");
  command->add_option("--known", options->known, "A file of known failures: lines 'operator dtype', or 'operator *'");
  command->add_option("--json", options->json, "Write the report here, as JSON");
  command->add_option("--junit", options->junit, "Write it here, as JUnit's XML");
  command->add_option("--html", options->html, "Write it here, as a page: operators by dtypes");
  command->add_option("--repeat", options->repeat, "Make one call, OP:INDEX of a report, in this process");
  command->add_flag(
      "--speed", options->speed,
      "Judge nothing, but print the time of calls beside the CPU's, and bytes per second beside a copy's");
  command->footer(
      "Calls are made in child processes: values and dtypes, sizes around vectors, layouts, shared memory, wrong\n"
      "arguments. Exit status: 0 if all that is served is right, or known to fail and failing; 1 if "
      "not,\n"
      "and if nothing was judged; 2 if a file cannot be read or written.");
  command->callback([options, &status, &keyway] {
    options->conform.command = "keyway";
    for (const std::string& path : keyway.get_option("--plugin")->results()) {
      options->conform.command += " --plugin " + path;
    }
    status = guarded("conform", ExitStatus::Usage, [&] { return conform(*options); });
  });
}

}  // namespace keyway::inline v1::tools
