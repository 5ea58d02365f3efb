// keyway table: operators by key.
#include <keyway/dispatch/explain.h>
#include <keyway/tools/keyway/command.h>

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>

namespace keyway::inline v1::tools {

namespace {

constexpr DispatchKey kColumns[] = {DispatchKey::CPU,         DispatchKey::CUDA,        DispatchKey::Meta,
                                    DispatchKey::AutogradCPU, DispatchKey::AutocastCPU, DispatchKey::ADInplaceOrView};

// One letter a rule, explained in the last line.
char letter(Rule rule) {
  switch (rule) {
    case Rule::Direct: return 'K';
    case Rule::CompositeExplicit: return 'E';
    case Rule::CompositeImplicit: return 'I';
    case Rule::Alias: return 'A';
    case Rule::Fallback: return 'F';
    case Rule::Fallthrough: return '.';
    case Rule::Missing: return '-';
  }
  return '?';
}

void print_heading() {
  fmt::print("{:<44}", "");
  for (DispatchKey key : kColumns) fmt::print(" {:>15}", to_string(key));
  fmt::print("\n");
}

ExitStatus print_table(const std::string& filter) {
  bool found = false;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const std::string name = op.entry().short_name();
    if (name.find(filter) == std::string::npos) continue;
    if (!found) print_heading();
    found = true;
    fmt::print("{:<44}", name);
    for (DispatchKey key : kColumns) {
      fmt::print(" {:>15}", letter(explain_slot(op, key).rule));
    }
    fmt::print("\n");
  }
  if (!found) {
    fmt::print(stderr, "keyway table: no operator fits\n");
    return ExitStatus::Failed;
  }
  fmt::print("K kernel  E composite explicit  I composite implicit  A alias  F fallback  . falls through  - none\n");
  return ExitStatus::Ok;
}

}  // namespace

void add_table_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("table", "Print which rule serves each key of each operator");
  auto filter = std::make_shared<std::string>();
  command->add_option("filter", *filter, "Only operators whose name has this in it");
  command->footer("Exit status: 0 if there are any, 1 if none fits.");
  command->callback([filter, &status] { status = print_table(*filter); });
}

}  // namespace keyway::inline v1::tools
