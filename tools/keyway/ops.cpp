// keyway ops: lists the operators.
#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/terminal/terminal.h>

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>

namespace keyway::inline v1::tools {

namespace {

struct OpsOptions {
  std::string filter;
  std::string tag;
  bool schemas = false;
};

ExitStatus list_operators(const OpsOptions& options) {
  std::size_t count = 0;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const OpInfo& info = op.entry().info();
    const std::string name = op.entry().short_name();
    if (name.find(options.filter) == std::string::npos) continue;
    if (!options.tag.empty() && !op.entry().has_tag(options.tag)) continue;
    if (options.schemas) {
      fmt::print("{}\n", info.schema);
    } else {
      fmt::print("{:<44} {}\n", name, info.doc);
    }
    ++count;
  }
  if (count == 0) {
    fmt::print(stderr, "keyway ops: no operator fits\n");
    return ExitStatus::Failed;
  }
  fmt::print(stderr, "{} operator{}\n", count, count == 1 ? "" : "s");
  return ExitStatus::Ok;
}

}  // namespace

void add_ops_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("ops", "List the operators");
  auto options = std::make_shared<OpsOptions>();
  command->add_option("filter", options->filter, "Only those whose name has this in it");
  command->add_option("--tag", options->tag, "Only those with this tag: core, pointwise, factory, ...");
  command->add_flag("--schemas", options->schemas, "Print schemas in place of names and what they do");
  command->footer("Exit status: 0 if there are any, 1 if none fits.");
  command->callback([options, &status] { status = list_operators(*options); });
}

}  // namespace keyway::inline v1::tools
