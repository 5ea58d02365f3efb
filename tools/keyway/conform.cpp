// keyway conform: judges backends, libraries of operators and single kernels.
#include <keyway/core/device/device_guard_impl.h>
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/keyway/conform/conformance.h>
#include <keyway/tools/keyway/conform/judges.h>
#include <keyway/tools/keyway/conform/speed.h>
#include <keyway/tools/keyway/fuzz/campaign.h>
#include <keyway/tools/keyway/loaded_libraries.h>
#include <keyway/tools/keyway/numbers.h>

#include <algorithm>
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
  std::string known, examples, json, junit, html;  // files
  std::string repeat;                              // OP:INDEX
  bool speed = false, has_device = false;
};

// Empty without a path.
std::string read(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  KEYWAY_CHECK(file.good(), "cannot read {}", path);
  return text.str();
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
  const ConformPlan plan = plan_of(op, options.conform);
  fmt::print("{}\n", plan.text(index));
  std::fflush(stdout);
  const OperatorJudges judges(op, options.conform);
  for (const OperatorJudges::One& each : judges.all()) {
    if (index >= each.most_calls) continue;
    const Outcome outcome = each.judge->judge(plan.call(index));
    fmt::print("{}{}{}{}{}\n", each.about, each.about.empty() ? "" : ": ", to_string(outcome.verdict),
               outcome.text.empty() ? "" : ": ", outcome.text);
    std::fflush(stdout);
    if (is_failure(outcome.verdict)) return ExitStatus::Failed;
  }
  return ExitStatus::Ok;
}

// What libraries are about that say nothing of it: the device type that they bring, else the CPU if they have kernels
// of it, else the device type that they have kernels of.
DeviceType device_of(const RegistryBefore& before) {
  const std::vector<OperatorHandle> ops = Dispatcher::singleton().ops();
  const auto has_kernels = [&](DeviceType type) {
    return std::any_of(ops.begin(), ops.end(), [&](const OperatorHandle& op) {
      return before.is_changed(op, type) && op.entry().has_kernel_for(type);
    });
  };
  std::vector<DeviceType> brought, served;
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    const auto type = static_cast<DeviceType>(i);
    if (type == DeviceType::CPU || type == DeviceType::Meta || find_device_guard_impl(type) == nullptr) continue;
    if (before.lacks_backend(type)) brought.push_back(type);
    if (has_kernels(type)) served.push_back(type);
  }
  if (brought.empty() && (served.empty() || has_kernels(DeviceType::CPU))) return DeviceType::CPU;
  const std::vector<DeviceType>& types = brought.empty() ? served : brought;
  KEYWAY_CHECK(types.size() == 1, "--plugin brings kernels of several device types: say --device");
  return types[0];
}

ExitStatus conform(CommandOptions options) {
  options.conform.before = registry_before_libraries();
  if (!options.has_device && options.conform.before) options.conform.device = device_of(*options.conform.before);
  options.conform.examples = Examples(read(options.examples));
  if (!options.repeat.empty()) return repeat_call(options);
  if (options.speed) {
    std::fputs(text_of(measure_speed(options.conform.device, options.conform.pattern)).c_str(), stdout);
    return ExitStatus::Ok;
  }
  const KnownFailures known(read(options.known));
  const ConformReport report = run_conformance(options.conform, known, [](const OperatorReport&) {});
  std::fputs(text_of(report).c_str(), stdout);
  write(options.json, json_of(report));
  write(options.junit, junit_of(report));
  write(options.html, html_of(report));
  return report.is_good() ? ExitStatus::Ok : ExitStatus::Failed;
}

}  // namespace

void add_conform_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("conform", "Judge a backend, a library of operators or a single kernel");
  auto options = std::make_shared<CommandOptions>();
  command->add_option_function<std::string>(
      "--device",
      [options](const std::string& name) {
        options->conform.device = Device(name).type();
        options->has_device = true;
      },
      "The device type to judge: cpu, cuda, or what a plug-in brings (default: the one that --plugin brings, or cpu)");
  command->add_option("--op", options->conform.pattern, "Only operators whose name has this in it, or fits it: 'add*'");
  command->add_option("--calls", options->conform.calls, "Calls of each operator (default 1000)")->check(above_0());
  command->add_option("--seed", options->conform.seed, "Same seed, same calls (default 0)")->check(not_negative());
  command->add_flag("--all", options->conform.judges_all,
                    "Judge what the fallback to the CPU serves, and what calls other operators, too");
  command->add_option("--known", options->known, "A file of known failures: lines 'operator dtype', or 'operator *'");
  command->add_option("--examples", options->examples,
                      "A file of calls for operators without an example: lines 'operator (arguments) == value'");
  command->add_option("--json", options->json, "Write the report here, as JSON");
  command->add_option("--junit", options->junit, "Write it here, as JUnit's XML");
  command->add_option("--html", options->html, "Write it here, as a page: operators by dtypes");
  command->add_option("--repeat", options->repeat, "Make one call, OP:INDEX of a report, in this process");
  command->add_flag(
      "--speed", options->speed,
      "Judge nothing, but print the time of calls beside the CPU's, and bytes per second beside a copy's");
  command->footer(
      "With --plugin, what that registers is judged: a device type by what the CPU gives, kernels of the CPU by those\n"
      "before, operators of its own by what holds for every right one. Calls are made in child processes: values and\n"
      "dtypes, sizes around vectors, layouts, shared memory, wrong arguments. Exit status: 0 if all that is served is "
      "right, or known to fail and failing; 1 if "
      "not,\n"
      "and if nothing was judged; 2 if a file cannot be read or written.");
  command->callback([options, &status, &keyway] {
    options->conform.command = "keyway";
    for (const std::string& path : keyway.get_option("--plugin")->results()) {
      options->conform.command += " --plugin " + path;
    }
    if (!options->examples.empty()) options->conform.repeats_with = " --examples " + options->examples;
    status = guarded("conform", ExitStatus::Usage, [&] { return conform(*options); });
  });
}

}  // namespace keyway::inline v1::tools
