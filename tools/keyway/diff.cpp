// keyway diff: how two snapshots of the registry differ.
#include <keyway/core/base/error.h>
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/terminal/terminal.h>

#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace keyway::inline v1::tools {

namespace {

struct DiffOptions {
  std::string before, after;
  bool breaking = false;
};

std::string read_snapshot(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  KEYWAY_CHECK(file, "cannot read '{}'", path);
  return text.str();
}

// "backward: compatible", or the reasons against it.
void print_verdict(const char* direction, const std::vector<std::string>& reasons, const Colours& colours) {
  if (reasons.empty()) {
    fmt::print("    {}: compatible\n", direction);
    return;
  }
  fmt::print("    {}: {}: {}\n", direction, colours(Colour::Red, "breaks"), fmt::join(reasons, "; "));
}

void print_difference(const SnapshotDifference& difference) {
  const Colours colours(stdout);
  for (const OperatorDifference& one : difference.operators) {
    fmt::print("{}\n", colours(Colour::Bold, one.op));
    for (const std::string& line : one.lines) fmt::print("  {}\n", line);
    if (one.kind == OperatorDifference::Kind::SchemaChanged) {
      print_verdict("backward", one.backward, colours);
      print_verdict("forward", one.forward, colours);
    }
  }
  if (!difference.fallbacks.empty()) fmt::print("fallbacks\n");
  for (const std::string& line : difference.fallbacks) fmt::print("  {}\n", line);
  fmt::print("{} operators differ; backward {}, forward {}\n", difference.operators.size(),
             difference.is_backward_compatible() ? "compatible" : "incompatible",
             difference.is_forward_compatible() ? "compatible" : "incompatible");
}

ExitStatus run_diff(const DiffOptions& options) {
  const SnapshotDifference difference = compare_snapshots(read_snapshot(options.before), read_snapshot(options.after));
  print_difference(difference);
  const bool fails = options.breaking ? !difference.is_backward_compatible() : !difference.empty();
  return fails ? ExitStatus::Failed : ExitStatus::Ok;
}

}  // namespace

void add_diff_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("diff", "Compare two snapshots: operators, schemas, kernels");
  auto options = std::make_shared<DiffOptions>();
  command->add_option("before", options->before, "A file that keyway snapshot wrote")->required();
  command->add_option("after", options->after, "Another")->required();
  command->add_flag("--breaking", options->breaking, "Fail only if calls written for the first break with the second");
  command->footer(
      "Of a changed schema it says whether calls written for the first work with the second (backward) and the other\n"
      "way round (forward), and if not, why. Exit status: 0 if they are alike, 1 if not, 2 if one cannot be read.");
  command->callback([options, &status] { status = guarded("diff", ExitStatus::Usage, run_diff, *options); });
}

}  // namespace keyway::inline v1::tools
